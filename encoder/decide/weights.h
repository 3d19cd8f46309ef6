#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "c63/picture.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/cost.h"

namespace c63 {

struct FramePlan;

// How much the squared errors of MCUs count. An MCU whose errors count less has a larger λ, with which its D + λR is
// computed.

/// The weights of a frame's MCUs, in raster order.
using FrameWeights = std::vector<Weight>;

/// The factors 2^(i/4) between the λ of two weights, for i from -16 to 16, with 16 fraction bits. The factor of i is
/// entry i + 16.
inline constexpr std::array<std::int32_t, 2 * kWeights - 1> kWeightRatios = {
    4096,  4871,  5793,  6889,   8192,   9742,   11585,  13777,  16384,  19484,  23170,
    27554, 32768, 38968, 46341,  55109,  65536,  77936,  92682,  110218, 131072, 155872,
    185364, 220436, 262144, 311744, 370728, 440872, 524288, 623487, 741455, 881744, 1048576};
inline constexpr int kWeightRatioBits = 16;

/// Returns λ for MCUs of a weight. `lambda` is the frame's λ.
[[nodiscard]] constexpr Cost weighted_lambda(Cost lambda, Weight weight) {
  const std::int64_t product = std::int64_t{lambda} * kWeightRatios[static_cast<std::size_t>(weight) + kPlainWeight];
  const std::int64_t rounded = (product + (1 << (kWeightRatioBits - 1))) >> kWeightRatioBits;
  return rounded < 1 ? 1 : rounded > kMaxLambda ? kMaxLambda : static_cast<Cost>(rounded);
}

/// Returns a cost or a squared error times `ratio`, one of kWeightRatios.
[[nodiscard]] C63_HD constexpr std::int64_t reweigh_by(std::int64_t cost, std::int32_t ratio) {
  return (cost * ratio) >> kWeightRatioBits;
}
/// Returns the index of the ratio that converts costs in MCUs of weight `from` to costs in MCUs of weight `to`.
[[nodiscard]] C63_HD constexpr int weight_ratio_index(Weight from, Weight to) { return to - from + kWeights - 1; }
[[nodiscard]] constexpr std::int64_t reweigh(std::int64_t cost, Weight from, Weight to) {
  return reweigh_by(cost, kWeightRatios[static_cast<std::size_t>(weight_ratio_index(from, to))]);
}

/// Returns the weight whose λ is `quarters` quarters of an octave above the frame's λ, or the nearest weight.
[[nodiscard]] C63_HD constexpr Weight weight_above(int quarters) {
  const int weight = kPlainWeight + quarters;
  return static_cast<Weight>(weight < 0 ? 0 : weight >= kWeights ? kWeights - 1 : weight);
}

/// Returns one weight in place of two: the factors by which they multiply λ are multiplied.
[[nodiscard]] C63_HD constexpr Weight combined_weight(Weight a, Weight b) { return weight_above(a + b - 2 * kPlainWeight); }

/// Returns 16·log2(value), so log2 in sixteenths, rounded down. Interpolates linearly between powers of two. `value` is
/// positive.
[[nodiscard]] C63_HD constexpr int log2_in_sixteenths(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  const int exponent = 31 - __clz(static_cast<int>(value));
#else
  const int exponent = std::bit_width(value) - 1;
#endif
  const std::uint32_t digits = exponent >= 4 ? value >> (exponent - 4) : value << (4 - exponent);
  return 16 * exponent + static_cast<int>(digits & 15U);
}

/// Returns 1024 times a block's variance, from the sum of its 64 samples and the sum of their squares.
[[nodiscard]] C63_HD constexpr std::uint32_t variance_share(std::uint32_t sum, std::uint32_t squares) {
  return (kBlockSamples * squares - sum * sum) / 4;
}

/// Returns the activity of an MCU's luma: log2 in sixteenths of `variance`, the sum of variance_share() of its four
/// blocks. This sum is 4096 times the mean variance of the blocks. A constant is added to it, so that noise in flat
/// areas has little effect.
[[nodiscard]] C63_HD constexpr int activity_of(std::uint32_t variance) {
  // Structural similarity adds the constant (0.03·255)² to variances. kFloor is half of it, times 4096, because
  // `variance` is 4096 times the mean variance.
  constexpr std::uint32_t kFloor = 29 * 4096;
  return log2_in_sixteenths(variance + kFloor);
}

/// Returns the weight of an MCU with this activity in a frame whose mean activity is `mean`. λ of the MCU is
/// proportional to its variance to the power of `power`/16.
[[nodiscard]] C63_HD constexpr Weight activity_weight(int activity, int mean, int power) {
  // The product below is in 1/256 of an octave, a weight in 1/4 of an octave. So the product is divided by 2^kShift.
  // Half of that is added before, so that the shift, which rounds down, gives the nearest number.
  constexpr int kShift = 6;
  return weight_above(((activity - mean) * power + (1 << (kShift - 1))) >> kShift);
}

/// Returns the activity of an MCU (see activity_of()), from the samples of its luma plane.
[[nodiscard]] int activity(ConstPlaneView luma, int mcu_column, int mcu_row);

/// Returns the weights of all MCUs by activity, for structural similarity: errors are less visible in detailed areas. λ
/// of an MCU is proportional to its variance to the power of `power`/16. The geometric mean of all λ is nearly the
/// frame's λ.
[[nodiscard]] FrameWeights activity_weights(ConstPlaneView luma, int power);

/// Throws Error (internal, C63-PLAN-WEIGHTS) unless a plan's weights are one valid weight for each of `mcus` MCUs.
void require_weights(const FramePlan& plan, std::size_t mcus);

/// Returns the luma weights of a planned frame: the plan's weights, the weights by activity, or both combined. Empty if
/// the plan asks for neither and chroma has the same weight as luma.
[[nodiscard]] FrameWeights frame_weights(const FramePlan& plan, ConstPlaneView luma);

/// Returns the chroma weights of MCUs with these luma weights. `chroma` is the chroma weight for luma weight
/// kPlainWeight.
[[nodiscard]] FrameWeights chroma_weights(FrameWeights weights, Weight chroma);

}  // namespace c63
