#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace c63::tools {

// What goes into HTML pages that carry everything with them.

/// JSON that cannot end the script element it stands in.
[[nodiscard]] std::string embedded(const nlohmann::ordered_json& json);

/// Text with U+FFFD for bytes that are not UTF-8: names of files may be any bytes.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Text as HTML shows it, between tags and in quoted attributes: valid UTF-8, with blanks for control characters.
[[nodiscard]] std::string escaped(std::string_view text);

[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace c63::tools
