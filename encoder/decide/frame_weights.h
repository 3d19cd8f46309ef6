#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/host_device.h"
#include "decide/beam.h"
#include "decide/cost.h"
#include "decide/weight.h"

// How much the squared errors of MCUs count. An MCU whose errors count less has a larger λ, with which its D + λR is
// computed.

namespace c63 {

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

/// Converts the costs in a beam from MCUs of weight `from` to MCUs of weight `to`.
inline void reweigh_beam(Beam& beam, int width, Weight from, Weight to) {
  for (int i = 0; i < width; ++i) {
    Cost& cost = beam.states[i].cost;
    if (cost >= kUnreachable) continue;
    const std::int64_t there = reweigh(cost, from, to);
    cost = there < kMaxBeamCost ? static_cast<Cost>(there) : kMaxBeamCost;
  }
}

}  // namespace c63
