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

/// log2 of a positive number in sixteenths. The fraction is interpolated linearly.
[[nodiscard]] C63_HD constexpr int log2_in_sixteenths(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  const int exponent = 31 - __clz(static_cast<int>(value));
#else
  const int exponent = std::bit_width(value) - 1;
#endif
  const std::uint32_t digits = exponent >= 4 ? value >> (exponent - 4) : value << (4 - exponent);
  return 16 * exponent + static_cast<int>(digits & 15U);
}

/// A quarter of a block's variance, times 4096, from the sum of its samples and the sum of their squares.
[[nodiscard]] C63_HD constexpr std::uint32_t variance_share(std::uint32_t sum, std::uint32_t squares) {
  return (kBlockSamples * squares - sum * sum) / 4;
}

/// The activity of an MCU's luma: the logarithm of the mean variance of its four blocks, plus a constant so that noise in flat
/// areas does not count. `variance` is the sum of the blocks' variance_share()s.
[[nodiscard]] C63_HD constexpr int activity_of(std::uint32_t variance) {
  // Half of the constant that structural similarity adds to variances, (0.03·255)².
  constexpr std::uint32_t kFloor = 29 * 4096;
  return log2_in_sixteenths(variance + kFloor);
}

/// The weight of an MCU with this activity in a frame whose mean activity is `mean`. λ grows with the variance to the power of
/// `power` sixteenths.
[[nodiscard]] C63_HD constexpr Weight activity_weight(int activity, int mean, int power) {
  // From sixteenths of sixteenths of an octave to quarters of one. The shift rounds down for either sign.
  constexpr int kShift = 6;
  return weight_above(((activity - mean) * power + (1 << (kShift - 1))) >> kShift);
}

/// The activity of an MCU, by activity_of().
[[nodiscard]] int activity(ConstPlaneView luma, int mcu_column, int mcu_row);

/// Weights by activity, for structural similarity: errors are less visible in detailed areas. λ grows with the variance to the
/// power of `power` sixteenths. Its geometric mean over a frame is the frame's λ.
[[nodiscard]] FrameWeights activity_weights(ConstPlaneView luma, int power);

/// Throws Error (internal, C63-PLAN-WEIGHTS) unless a plan has one valid weight for each of `mcus` MCUs.
void require_weights(const FramePlan& plan, std::size_t mcus);

/// The weights of a planned frame: the plan's weights, weights by activity, or both combined. Empty if the plan asks for none.
/// Never empty if chroma is weighed differently from luma.
[[nodiscard]] FrameWeights frame_weights(const FramePlan& plan, ConstPlaneView luma);

/// The weights of chroma in MCUs with these weights. `chroma` is its weight in MCUs of kPlainWeight.
[[nodiscard]] FrameWeights chroma_weights(FrameWeights weights, Weight chroma);

}  // namespace c63
