#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "c63/picture.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/frame_plan.h"
#include "decide/frame_weights.h"

namespace c63 {

/// log2 of a positive number in sixteenths, the digits behind the point taken from the number's own.
[[nodiscard]] C63_HD constexpr int log2_in_sixteenths(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  const int exponent = 31 - __clz(static_cast<int>(value));
#else
  const int exponent = std::bit_width(value) - 1;
#endif
  const std::uint32_t digits = exponent >= 4 ? value >> (exponent - 4) : value << (4 - exponent);
  return 16 * exponent + static_cast<int>(digits & 15U);
}

/// A quarter of a block's variance, times 4096, of the sum of its samples and that of their squares.
[[nodiscard]] C63_HD constexpr std::uint32_t variance_share(std::uint32_t sum, std::uint32_t squares) {
  return (kBlockSamples * squares - sum * sum) / 4;
}

/// How lively an MCU's luma is, as a logarithm: that of the mean variance of its four blocks (the sum of their
/// variance_share()s), and of a constant that keeps noise in flat areas from counting.
[[nodiscard]] C63_HD constexpr int activity_of(std::uint32_t variance) {
  // Half of the constant that structural similarity adds to variances, (0.03·255)².
  constexpr std::uint32_t kFloor = 29 * 4096;
  return log2_in_sixteenths(variance + kFloor);
}

/// The weight of an MCU so lively in a frame whose MCUs have this mean, where λ grows with the variance to the power of so
/// many sixteenths.
[[nodiscard]] C63_HD constexpr Weight activity_weight(int activity, int mean, int power) {
  // Sixteenths of sixteenths of an octave, to quarters of one; the shift rounds down, whatever the sign.
  constexpr int kShift = 6;
  return weight_above(((activity - mean) * power + (1 << (kShift - 1))) >> kShift);
}

/// activity_of() an MCU.
[[nodiscard]] int activity(ConstPlaneView luma, int mcu_column, int mcu_row);

/// Weights by activity, as structural similarity has it: an error is the less visible the livelier a place is. λ grows with
/// the variance to the power of so many sixteenths; its geometric mean over a frame is that of the frame.
[[nodiscard]] FrameWeights activity_weights(ConstPlaneView luma, int power);

/// Throws Error (internal, C63-PLAN-WEIGHTS) where a plan's weights are not one for each of so many MCUs, or no weights.
void require_weights(const FramePlan& plan, std::size_t mcus);

/// The weights of a frame that is planned so: the plan's, by activity where it says so, or both. Empty where it has none.
/// Where chroma is weighed otherwise than luma, there are always some.
[[nodiscard]] FrameWeights frame_weights(const FramePlan& plan, ConstPlaneView luma);

/// The weights of chroma in MCUs of these weights, where it has `chroma` in one of kPlainWeight.
[[nodiscard]] FrameWeights chroma_weights(FrameWeights weights, Weight chroma);

}  // namespace c63
