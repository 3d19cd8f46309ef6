#include "common/page_text.h"

#include <nettle/base64.h>

#include <nlohmann/json.hpp>

#include "c63/error.h"

namespace c63::tools {

std::string valid_utf8(std::string_view text) {
  const nlohmann::json json = std::string(text);
  return nlohmann::json::parse(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)).get<std::string>();
}

std::string embedded(const nlohmann::ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
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
