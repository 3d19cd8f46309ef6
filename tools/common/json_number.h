#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace c63::tools {

/// Returns a value for JSON. Infinity and NaN, which JSON lacks, become null.
[[nodiscard]] inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// Returns a JSON value that must be a whole number of at least `least`. Throws std::runtime_error for anything else,
/// also for numbers that do not fit the type, which get() would convert.
template <typename Integer>
[[nodiscard]] Integer whole_number_from(const nlohmann::ordered_json& json, Integer least = 0) {
  if (json.is_number_unsigned()) {
    if (const auto value = json.get<std::uint64_t>(); std::in_range<Integer>(value) && std::cmp_greater_equal(value, least))
      return static_cast<Integer>(value);
  } else if (json.is_number_integer()) {
    if (const auto value = json.get<std::int64_t>(); std::in_range<Integer>(value) && std::cmp_greater_equal(value, least))
      return static_cast<Integer>(value);
  }
  throw std::runtime_error("a number that cannot be");
}

/// Returns a JSON value that must be a number from `low` to `high`. Throws std::runtime_error for anything else.
[[nodiscard]] inline double number_from(const nlohmann::ordered_json& json, double low, double high) {
  if (json.is_number()) {
    if (const auto value = json.get<double>(); value >= low && value <= high) return value;
  }
  throw std::runtime_error("a number that cannot be");
}

}  // namespace c63::tools
