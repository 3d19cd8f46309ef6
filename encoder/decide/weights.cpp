#include "decide/weights.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "c63/error.h"
#include "codec/geometry.h"
#include "decide/frame_plan.h"

namespace c63 {

namespace {

std::uint32_t share_of_block(ConstPlaneView luma, int x, int y) {
  std::uint32_t sum = 0;
  std::uint32_t squares = 0;
  for (int row = 0; row < kBlockSize; ++row) {
    const std::uint8_t* const samples = &luma.at(x, y + row);
    for (int i = 0; i < kBlockSize; ++i) {
      sum += samples[i];
      squares += std::uint32_t{samples[i]} * samples[i];
    }
  }
  return variance_share(sum, squares);
}

}  // namespace

int activity(ConstPlaneView luma, int mcu_column, int mcu_row) {
  const int x = kMcuSize * mcu_column;
  const int y = kMcuSize * mcu_row;
  return activity_of(share_of_block(luma, x, y) + share_of_block(luma, x + kBlockSize, y) +
                     share_of_block(luma, x, y + kBlockSize) + share_of_block(luma, x + kBlockSize, y + kBlockSize));
}

FrameWeights activity_weights(ConstPlaneView luma, int power) {
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
  for (const int own : activities) weights.push_back(activity_weight(own, mean, power));
  return weights;
}

void require_weights(const FramePlan& plan, std::size_t mcus) {
  if (plan.weights->size() != mcus) {
    throw Error(ErrorKind::internal, "C63-PLAN-WEIGHTS", "the number of weights in a plan differs from the number of MCUs",
                {.frame = plan.index});
  }
  if (std::ranges::any_of(*plan.weights, [](Weight weight) { return weight >= kWeights; })) {
    throw Error(ErrorKind::internal, "C63-PLAN-WEIGHTS", "the weight of an MCU in a plan is above the largest one allowed: " + std::to_string(kWeights - 1),
                {.frame = plan.index});
  }
}

FrameWeights frame_weights(const FramePlan& plan, ConstPlaneView luma) {
  FrameWeights weights;
  const auto mcus = static_cast<std::size_t>(luma.width / kMcuSize) * static_cast<std::size_t>(luma.height / kMcuSize);
  if (plan.rate.activity_power > 0) {
    weights = activity_weights(luma, plan.rate.activity_power);
  } else if (plan.rate.chroma_weight != kPlainWeight) {
    weights.assign(mcus, kPlainWeight);
  }
  if (plan.weights == nullptr) return weights;
  require_weights(plan, mcus);
  if (weights.empty()) return *plan.weights;
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = combined_weight(weights[i], (*plan.weights)[i]);
  return weights;
}

FrameWeights chroma_weights(FrameWeights weights, Weight chroma) {
  for (Weight& weight : weights) weight = combined_weight(weight, chroma);
  return weights;
}

}  // namespace c63
