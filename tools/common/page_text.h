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

/// Text as HTML shows it, between tags and in quoted attributes.
[[nodiscard]] std::string escaped(std::string_view text);

[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace c63::tools
