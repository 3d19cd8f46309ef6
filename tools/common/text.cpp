#include "common/text.h"

#include <nettle/base64.h>

#include <nlohmann/json.hpp>

#include "c63/error.h"

namespace c63::tools {

std::string fill_in(std::string_view text, char open, char close, const std::map<std::string, std::string>& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text[at] == open ? text.find(close, at + 1) : std::string_view::npos;
    const auto found =
        end == std::string_view::npos ? values.end() : values.find(std::string(text.substr(at + 1, end - at - 1)));
    if (found == values.end()) {
      out += text[at++];
    } else {
      out += found->second;
      at = end + 1;
    }
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  const nlohmann::json json = std::string(text);
  return nlohmann::json::parse(json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)).get<std::string>();
}

std::string embedded(const nlohmann::ordered_json& json) {
  const std::string text = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  for (const char c : text) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : one_line(valid_utf8(text))) {
    out += c == '<' ? std::string("&lt;") : c == '&' ? std::string("&amp;") : c == '"' ? std::string("&quot;") : std::string(1, c);
  }
  return out;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  std::string out(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  base64_encode_raw(out.data(), bytes.size(), bytes.data());
  return out;
}

}  // namespace c63::tools
