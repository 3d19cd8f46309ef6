#include "common/json.h"

#include <new>

#include "c63/error.h"
#include "io/input_file.h"

namespace c63::tools {

using nlohmann::ordered_json;

ordered_json parse_json(std::string_view text) {
  return ordered_json::parse(text, [](int depth, ordered_json::parse_event_t /*event*/, const ordered_json& /*parsed*/) {
    constexpr int kMostDepth = 64;
    if (depth > kMostDepth) throw std::runtime_error("it is nested too deeply");
    return true;
  });
}

ordered_json json_if_valid(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const std::exception&) {
    return ordered_json(ordered_json::value_t::discarded);
  }
}

std::optional<std::string> text_of_file(const std::string& path, std::uint64_t most_bytes) {
  InputFile file(path);
  const auto bytes = file.size();
  if (!bytes || static_cast<std::uint64_t>(*bytes) > most_bytes) return std::nullopt;
  std::string text(static_cast<std::size_t>(*bytes), '\0');
  text.resize(file.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

void read_json(const std::string& path, std::uint64_t most_bytes, const std::string& id, const std::string& what,
               const std::function<void(const ordered_json&)>& use) {
  const auto text = text_of_file(path, most_bytes);
  std::string why = "it is too large, or not a regular file";
  try {
    if (text) return use(parse_json(*text));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Error& fault) {
    why = fault.message();
  } catch (const std::exception& fault) {
    why = fault.what();
  }
  throw Error(ErrorKind::input, id, what + ": " + why, {.file = path});
}

void write_json(const std::string& path, const ordered_json& json, Durability durability, bool is_part) {
  OutputFile file(path, durability);
  file.write(json_text(json) + "\n");
  is_part ? (void)file.commit_part() : file.commit();
}

void write_json(OutputFile& file, const ordered_json& json) {
  file.write(json_text(json) + "\n");
  file.commit();
}

// A file name may have any bytes, but JSON must be UTF-8. So U+FFFD replaces bytes that are not.
std::string json_text(const ordered_json& json) { return json.dump(2, ' ', false, ordered_json::error_handler_t::replace); }

std::string json_members(const ordered_json& json) {
  const std::string text = json_text(json);
  return text.substr(2, text.size() - 4);
}

}  // namespace c63::tools
