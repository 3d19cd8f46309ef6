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

/// The DC levels to try for a block: the level nearest to its coefficient, zero, and the nearest level's two neighbours
/// (first the one nearer to zero). Levels that repeat an earlier one are not valid.
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

/// Returns the squared error of a block with only a DC level, if no sample is clamped. `flat` is flat_residual() of the
/// level. `residual_sum` and `residual_squares` are the sums of the block's residuals and of their squares.
[[nodiscard]] C63_HD constexpr Cost flat_error(int residual_sum, int residual_squares, int flat) {
  return (residual_squares - 2 * flat * residual_sum + kBlockSamples * flat * flat) * (1 << kCostFractionBits);
}

}  // namespace c63
