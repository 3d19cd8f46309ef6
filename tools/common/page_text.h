#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace c63::tools {

// Text for HTML pages that contain everything they need.

/// Returns JSON that cannot end the script element around it.
[[nodiscard]] std::string embedded(const nlohmann::ordered_json& json);

/// Returns the text with U+FFFD for bytes that are not UTF-8, because file names may be any bytes.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Returns the text for HTML, between tags and in quoted attributes: valid UTF-8, with blanks for control characters.
[[nodiscard]] std::string escaped(std::string_view text);

[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace c63::tools
