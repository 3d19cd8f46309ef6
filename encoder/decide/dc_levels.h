#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/dct.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "codec/quantization.h"
#include "decide/cost.h"
#include "decide/quantizer.h"

namespace c63 {

inline constexpr int kDcLevels = 4;

/// The possible DC levels of a block: the one nearest to its coefficient, zero, and the first one's neighbours, nearer to zero and
/// further away. A repeated level is not valid.
struct DcLevels {
  std::array<std::int16_t, kDcLevels> levels{};
  std::array<bool, kDcLevels> valid{};
  std::array<Cost, kDcLevels> errors{};  ///< squared error of the DC coefficient
};

[[nodiscard]] C63_HD inline DcLevels dc_levels(int coefficient, int step, std::int32_t reciprocal) {
  const int sign = coefficient < 0 ? -1 : 1;
  const int magnitude = sign * coefficient;
  int nearest = nearest_level(magnitude, reciprocal);
  if (nearest > kMaxDcMagnitude - 1) nearest = kMaxDcMagnitude - 1;
  const std::array<int, kDcLevels> candidates = {nearest, 0, nearest - 1, nearest + 1};
  DcLevels dc;
  for (std::size_t i = 0; i < kDcLevels; ++i) {
    const int level = candidates[i] < 0 ? 0 : candidates[i];
    dc.levels[i] = static_cast<std::int16_t>(sign * level);
    dc.errors[i] = square(magnitude - reconstruct_level(level, step));
  }
  dc.valid = {true, nearest > 0, nearest > 1, true};
  return dc;
}

/// The value that a decoder adds to every sample of a block with only this DC level.
[[nodiscard]] C63_HD inline int flat_residual(int level, int step) {
  const auto value = static_cast<float>(dequantize(level, step));
  return static_cast<std::int32_t>(scale_coefficient(value, 0, 0));
}

/// The squared error of such a block, if no sample is clamped, from the sum of its residuals and the sum of their squares.
[[nodiscard]] C63_HD constexpr Cost flat_error(int residual_sum, int residual_squares, int flat) {
  return (residual_squares - 2 * flat * residual_sum + kBlockSamples * flat * flat) * (1 << kCostFractionBits);
}

}  // namespace c63
