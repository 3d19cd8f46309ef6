#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/host_device.h"
#include "codec/quantization.h"
#include "decide/cost.h"

namespace c63 {

/// The value that a decoder restores from a level >= 0, in the unit of coefficients.
[[nodiscard]] C63_HD constexpr int reconstruct_level(int level, int step) {
  return dequantize(level, step) << (2 + kCoefficientFractionBits);
}

/// The quantization of one plane for decisions. Coefficients are in zig-zag order.
struct Quantizer {
  std::array<std::uint8_t, 64> steps{};
  std::array<std::int32_t, 64> reciprocals{};              ///< round(2^16 / step)
  alignas(64) std::array<std::int16_t, 64> thresholds{};   ///< AC coefficients up to this are never kept
  int max_level = 0;                                       ///< of AC coefficients

  Quantizer() = default;
  constexpr Quantizer(const QuantizationTable& table, int plane) : steps(table), max_level(max_ac_magnitude(plane)) {
    for (std::size_t k = 0; k < 64; ++k) {
      const int step = table[k];
      reciprocals[k] = (65536 + step / 2) / step;
      // Up to half of level 1's value, zero is at least as close.
      thresholds[k] = static_cast<std::int16_t>(k == 0 ? INT16_MAX : reconstruct_level(1, step) / 2);
    }
  }
};

/// The nearest level of a coefficient of magnitude <= 32,704, as exact as the rounded reciprocal allows.
[[nodiscard]] C63_HD constexpr int nearest_level(int magnitude, std::int32_t reciprocal) {
  return (magnitude * reciprocal + (1 << 19)) >> 20;
}

}  // namespace c63
