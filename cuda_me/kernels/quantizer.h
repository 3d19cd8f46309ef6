#pragma once

#include <cmath>

#include "codec/host_device.h"

namespace c63::cuda {

/// Quantization by one step q in binary32, without division or conversion to integers. It estimates a level with the
/// reciprocal, then corrects the estimate by an exact comparison. Its results are those of c63::quantize() and
/// c63::dequantize().
struct StepQuantizer {
  float step4 = 0;       ///< 4q
  float reciprocal = 0;  ///< 1 / 4q

  StepQuantizer() = default;
  C63_HD explicit StepQuantizer(int step) : step4(static_cast<float>(4 * step)), reciprocal(1.0F / step4) {}

  /// Rounds 0 <= x < 2^22 to an integer. It adds 2^23 and subtracts it again. From 2^23 on, the last bit of a float is
  /// worth one, so the sum has no fraction.
  [[nodiscard]] C63_HD static float to_integer(float x) {
    constexpr float kTwoTo23 = 8388608.0F;
    const float sum = x + kTwoTo23;
    return sum - kTwoTo23;
  }

  /// Returns the magnitude of the level for a coefficient of magnitude `a` <= 16384. It is the largest n with (n -
  /// 1/2)·4q <= a.
  ///
  /// The product of `a` and the reciprocal has an error below 2^-11. Adding 2^-10 makes the product too large, never
  /// too small. So n is right or one too high. The threshold (n - 1/2)·4q is an integer below 2^24, so its comparison
  /// with `a` is exact.
  [[nodiscard]] C63_HD float magnitude(float a) const {
    const float n = to_integer(fmaf(a, reciprocal, 0x1p-10F));
    return fmaf(n, step4, step4 * -0.5F) > a ? n - 1.0F : n;
  }

  /// Returns the magnitude of the coefficient for a level of magnitude `n`. It is n·q / 4, and a half is rounded up.
  /// The fraction of n·q / 4 is a multiple of 1/4, so adding 1/8 only changes how a half is rounded.
  [[nodiscard]] C63_HD float restored(float n) const { return to_integer(fmaf(n, step4 * 0.0625F, 0.125F)); }
};

}  // namespace c63::cuda
