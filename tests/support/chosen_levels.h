#pragma once

#include <array>
#include <cstdint>

#include "decide/rdoq.h"

namespace c63::test {

/// Returns the 64 levels of a choice. The first one is 0.
[[nodiscard]] inline std::array<std::int16_t, 64> chosen_levels(const std::array<std::int16_t, 64>& coefficients,
                                                                const AcChoice& choice, const Quantizer& quantizer) {
  std::array<std::int16_t, 64> levels{};
  for (std::size_t k = 1; k < 64; ++k) {
    const bool is_lower = (choice.lower >> k & 1) != 0;
    if ((choice.coded >> k & 1) != 0) {
      levels[k] = static_cast<std::int16_t>(chosen_level(coefficients[k], quantizer, static_cast<int>(k), is_lower));
    }
  }
  return levels;
}

}  // namespace c63::test
