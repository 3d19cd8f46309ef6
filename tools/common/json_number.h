#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace c63::tools {

/// A value for JSON, which has no infinity and no NaN: null stands for both.
[[nodiscard]] inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace c63::tools
