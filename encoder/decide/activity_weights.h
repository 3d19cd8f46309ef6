#pragma once

#include <bit>
#include <cstdint>

#include "c63/picture.h"
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

/// How lively an MCU's luma is, as a logarithm: that of the mean variance of its four blocks, and of a constant that keeps
/// noise in flat areas from counting.
[[nodiscard]] int activity(ConstPlaneView luma, int mcu_column, int mcu_row);

/// Weights by activity, as structural similarity has it: an error is the less visible the livelier a place is. λ grows with
/// the square root of the variance; its geometric mean over a frame is that of the frame.
[[nodiscard]] FrameWeights activity_weights(ConstPlaneView luma);

/// The weights of a frame that is planned so: the plan's, by activity where it says so, or both. Empty where it has none.
/// Where chroma is weighed otherwise than luma, there are always some.
[[nodiscard]] FrameWeights frame_weights(const FramePlan& plan, ConstPlaneView luma);

/// The weights of chroma in MCUs of these weights, where it has `chroma` in one of kPlainWeight.
[[nodiscard]] FrameWeights chroma_weights(FrameWeights weights, Weight chroma);

}  // namespace c63
