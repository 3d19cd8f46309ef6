#include "common/sidecar.h"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "c63/error.h"
#include "common/json_number.h"
#include "common/paths.h"
#include "common/whole_file.h"

namespace c63::tools {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 26;

/// Parses a sidecar and skips all arrays. The array of key frames can be long, and nothing here needs it.
nlohmann::ordered_json parse_without_lists(const std::string& text) {
  using nlohmann::ordered_json;
  return ordered_json::parse(text,
                             [](int /*depth*/, ordered_json::parse_event_t event, const ordered_json& /*parsed*/) {
                               return event != ordered_json::parse_event_t::array_start;
                             });
}

/// The parts of the file that are needed here. `bytes` is the stream's size: an encode report has it in "result", a
/// segment's record at the top level.
struct Sidecar {
  std::uint64_t bytes = 0;
  std::optional<FrameRate> rate;
};

/// Throws an exception of the JSON library, not Error, if the JSON is not a sidecar.
Sidecar sidecar_from(const nlohmann::ordered_json& json) {
  const nlohmann::ordered_json& input = json.at("input");
  Sidecar sidecar{
      .bytes = whole_number_from<std::uint64_t>((json.contains("result") ? json.at("result") : json).at("bytes")),
      .rate = {}};
  if (!input.contains("rate_numerator")) return sidecar;
  sidecar.rate = {.numerator = whole_number_from<int>(input.at("rate_numerator"), 1),
                  .denominator = whole_number_from<int>(input.at("rate_denominator"), 1)};
  return sidecar;
}

}  // namespace

std::string sidecar_path(const std::string& stream) { return stream + ".json"; }

void check_sidecar(bool wanted, const std::string& stream) {
  if (!wanted || !is_written_directly(stream)) return;
  throw Error(ErrorKind::usage, "C63-USAGE",
              "--sidecar writes a file next to the output, so the output must be a file");
}

std::optional<SidecarRate> sidecar_rate(const std::string& stream,
                                        const std::function<void(const std::string&)>& warn) {
  const std::string path = sidecar_path(stream);
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) return std::nullopt;
  const auto refuse = [&](const std::string& why) -> std::optional<SidecarRate> {
    if (warn) warn(fmt::format("{} {}: its frame rate is not used", path, why));
    return std::nullopt;
  };
  try {
    const auto text = text_of_file(path, kMostBytes);
    if (!text) return refuse("is too large to describe a stream");
    const Sidecar sidecar = sidecar_from(parse_without_lists(*text));
    const std::uintmax_t bytes = std::filesystem::file_size(stream, fault);
    if (fault || bytes != sidecar.bytes) return refuse("describes another stream");
    if (!sidecar.rate) return std::nullopt;
    return SidecarRate{*sidecar.rate, path};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Error& error) {
    return refuse("cannot be read (" + error.message() + ")");
  } catch (const std::exception&) {
    return refuse("does not describe a stream");
  }
}

}  // namespace c63::tools
