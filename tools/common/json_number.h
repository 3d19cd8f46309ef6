#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace c63::tools {

/// A value for JSON, which has no infinity and no NaN: null stands for both.
[[nodiscard]] inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// A whole number that 64 bits hold and that is at least `least`. Throws std::runtime_error for anything else.
[[nodiscard]] inline std::int64_t whole_number(const nlohmann::ordered_json& json, std::int64_t least = 0) {
  const bool fits = json.is_number_unsigned() ? json.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                                              : json.is_number_integer();
  if (!fits || json.get<std::int64_t>() < least) throw std::runtime_error("a number is out of range: " + json.dump());
  return json.get<std::int64_t>();
}

}  // namespace c63::tools
