#include "decide/activity_weights.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "c63/error.h"
#include "codec/geometry.h"

namespace c63 {
namespace {

/// 64 times the sum of squares less the square of the sum: 4096 times the variance.
std::uint32_t scaled_variance(ConstPlaneView luma, int x, int y) {
  std::uint32_t sum = 0;
  std::uint32_t squares = 0;
  for (int row = 0; row < kBlockSize; ++row) {
    const std::uint8_t* const samples = &luma.at(x, y + row);
    for (int i = 0; i < kBlockSize; ++i) {
      sum += samples[i];
      squares += std::uint32_t{samples[i]} * samples[i];
    }
  }
  return 64 * squares - sum * sum;
}

/// Half of the constant that structural similarity adds to variances, (0.03·255)², in the unit of scaled_variance().
constexpr std::uint32_t kFloor = 29 * 4096;

/// Sixteenths of an octave of variance for a quarter of an octave of λ: 8 is the square root.
constexpr int kActivityStep = 8;

/// The weight of what two weights hold for.
Weight both(Weight a, Weight b) { return static_cast<Weight>(std::clamp(a + b - kPlainWeight, 0, kWeights - 1)); }

}  // namespace

int activity(ConstPlaneView luma, int mcu_column, int mcu_row) {
  const int x = kMcuSize * mcu_column;
  const int y = kMcuSize * mcu_row;
  const std::uint32_t variances = scaled_variance(luma, x, y) / 4 + scaled_variance(luma, x + kBlockSize, y) / 4 +
                                  scaled_variance(luma, x, y + kBlockSize) / 4 +
                                  scaled_variance(luma, x + kBlockSize, y + kBlockSize) / 4;
  return log2_in_sixteenths(variances + kFloor);
}

FrameWeights activity_weights(ConstPlaneView luma) {
  const int columns = luma.width / kMcuSize;
  const int rows = luma.height / kMcuSize;
  std::vector<int> activities;
  activities.reserve(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) activities.push_back(activity(luma, column, row));
  }
  const auto sum = std::accumulate(activities.begin(), activities.end(), std::int64_t{0});
  const auto mean = static_cast<int>(sum / static_cast<std::int64_t>(activities.size()));
  FrameWeights weights;
  weights.reserve(activities.size());
  for (const int own : activities) {
    // Rounded down from a half more, for differences of both signs.
    const int quarters = (own - mean + kActivityStep / 2 + kWeights * kActivityStep) / kActivityStep - kWeights;
    weights.push_back(static_cast<Weight>(std::clamp(kPlainWeight + quarters, 0, kWeights - 1)));
  }
  return weights;
}

FrameWeights frame_weights(const FramePlan& plan, ConstPlaneView luma) {
  FrameWeights weights;
  const auto mcus = static_cast<std::size_t>(luma.width / kMcuSize) * static_cast<std::size_t>(luma.height / kMcuSize);
  if (plan.rate.weigh_activity) {
    weights = activity_weights(luma);
  } else if (plan.rate.chroma_weight != kPlainWeight) {
    weights.assign(mcus, kPlainWeight);
  }
  if (plan.weights == nullptr) return weights;
  if (plan.weights->size() != mcus) {
    throw Error(ErrorKind::internal, "C63-PLAN-WEIGHTS", "a plan has another number of weights than the frame has MCUs",
                {.frame = plan.index});
  }
  if (std::ranges::any_of(*plan.weights, [](Weight weight) { return weight >= kWeights; })) {
    throw Error(ErrorKind::internal, "C63-PLAN-WEIGHTS", "a plan has a weight past the last one, " + std::to_string(kWeights - 1),
                {.frame = plan.index});
  }
  if (weights.empty()) return *plan.weights;
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = both(weights[i], (*plan.weights)[i]);
  return weights;
}

FrameWeights chroma_weights(FrameWeights weights, Weight chroma) {
  for (Weight& weight : weights) weight = both(weight, chroma);
  return weights;
}

}  // namespace c63
