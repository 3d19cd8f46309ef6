#pragma once

#include <cmath>
#include <cstdint>

#include "codec/host_device.h"

namespace c63::cuda {

/// Quantization by one step q without division or conversion, all in binary32: an estimate by the reciprocal, then an exact
/// comparison with the tie below it. Gives the results of c63::quantize() and c63::dequantize().
struct StepQuantizer {
  float step4 = 0;       ///< 4q
  float reciprocal = 0;  ///< of 4q

  StepQuantizer() = default;
  C63_HD explicit StepQuantizer(int step) : step4(static_cast<float>(4 * step)), reciprocal(1.0F / step4) {}

  /// Rounds 0 <= x < 2^22 to an integer. From 2^23 on, the last bit of a number is worth one.
  [[nodiscard]] C63_HD static float to_integer(float x) {
    constexpr float kTwoTo23 = 8388608.0F;
    const float sum = x + kTwoTo23;
    return sum - kTwoTo23;
  }

  /// |level| of a coefficient of magnitude `a` <= 16384: the largest n with (n - 1/2)·4q <= a.
  ///
  /// The product's error is below 2^-11. With 2^-10 more it is too large, so the estimate is right or one too high. The tie
  /// that decides is an integer below 2^24, so the comparison is exact.
  [[nodiscard]] C63_HD float magnitude(float a) const {
    const float n = to_integer(fmaf(a, reciprocal, 0x1p-10F));
    return fmaf(n, step4, step4 * -0.5F) > a ? n - 1.0F : n;
  }

  /// The magnitude of the coefficient for a level of magnitude `n`: round(n·q / 4), half up. The fraction is a multiple of 1/4,
  /// so adding an eighth only moves ties up.
  [[nodiscard]] C63_HD float restored(float n) const { return to_integer(fmaf(n, step4 * 0.0625F, 0.125F)); }
};

}  // namespace c63::cuda
