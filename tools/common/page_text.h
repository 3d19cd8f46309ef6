#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace c63::tools {

// Text for HTML pages that load nothing from elsewhere.

/// Returns JSON for a script element of a page. No text in it can end the element.
[[nodiscard]] std::string embedded(const nlohmann::ordered_json& json);

/// Returns the text with U+FFFD in place of bytes that are not UTF-8. File names may have any bytes.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Returns the text escaped for HTML, between tags or in a quoted attribute. It is valid UTF-8, with blanks for control
/// characters.
[[nodiscard]] std::string escaped(std::string_view text);

[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace c63::tools
