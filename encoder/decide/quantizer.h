#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/host_device.h"
#include "codec/quantization.h"
#include "decide/cost.h"

namespace c63 {

/// Returns the coefficient that a decoder restores from a level >= 0, with kCoefficientFractionBits.
[[nodiscard]] C63_HD constexpr int reconstruct_level(int level, int step) {
  return dequantize(level, step) << (2 + kCoefficientFractionBits);
}

/// The quantization of one plane, as decisions use it. All arrays are in zig-zag order.
struct Quantizer {
  std::array<std::uint8_t, 64> steps{};
  std::array<std::int32_t, 64> reciprocals{};              ///< round(2^16 / step)
  /// AC coefficients with at most this magnitude always become zero.
  alignas(64) std::array<std::int16_t, 64> thresholds{};
  int max_level = 0;                                       ///< largest AC level

  Quantizer() = default;
  constexpr Quantizer(const QuantizationTable& table, int plane) : steps(table), max_level(max_ac_magnitude(plane)) {
    for (std::size_t k = 0; k < 64; ++k) {
      const int step = table[k];
      reciprocals[k] = (65536 + step / 2) / step;
      // Level 1 stands for the value reconstruct_level(1). A magnitude of at most half of this value is at least as
      // near to 0.
      thresholds[k] = static_cast<std::int16_t>(k == 0 ? INT16_MAX : reconstruct_level(1, step) / 2);
    }
  }
};

/// Returns the level nearest to a coefficient of magnitude <= 32,704. Because the reciprocal is rounded, it may be the
/// second nearest if two levels are almost equally near.
[[nodiscard]] C63_HD constexpr int nearest_level(int magnitude, std::int32_t reciprocal) {
  return (magnitude * reciprocal + (1 << 19)) >> 20;
}

}  // namespace c63
