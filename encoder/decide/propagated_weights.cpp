#include "decide/propagated_weights.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace c63 {
namespace {

/// The importance of each luma block's error, in raster order.
using Importance = std::vector<std::uint32_t>;

/// For each block of a frame, adds a share of its importance to the blocks of the reference that predict it. The same
/// share of the reference's error remains in the block.
void add_to_reference(const PlaneGeometry& geometry, const ErrorFlow& flow, const Importance& own, Importance& reference) {
  for (int row = 0; row < geometry.rows; ++row) {
    for (int column = 0; column < geometry.columns; ++column) {
      const auto block = static_cast<std::size_t>(row * geometry.columns + column);
      const std::uint32_t passed = own[block] * flow[block].share / kPlainImportance;
      if (passed == 0) continue;
      pass_on(column, row, flow[block].vector, passed, [&](int at_column, int at_row, std::uint32_t part) {
        const auto at = static_cast<std::size_t>(at_row * geometry.columns + at_column);
        reference[at] = std::min(kMostImportance, reference[at] + part);
      });
    }
  }
}

}  // namespace

ErrorFlow error_flow(const SourceMotion& motion, Cost lambda) {
  ErrorFlow flow;
  flow.reserve(motion.size());
  for (const SourceBlock& block : motion) flow.push_back({block.vector, passed_share(block.squared_error, lambda)});
  return flow;
}

FrameWeights propagated_weights(const Geometry& geometry, std::span<const LaterFrame> later) {
  const PlaneGeometry luma = geometry.plane(0);
  std::vector<Importance> importances(later.size() + 1, Importance(static_cast<std::size_t>(luma.blocks()), kPlainImportance));
  int dependents = 0;
  for (std::size_t i = later.size(); i > 0; --i) {
    const LaterFrame& frame = later[i - 1];
    if (frame.back > i) continue;
    if (frame.back == i) ++dependents;
    add_to_reference(luma, *frame.flow, importances[i], importances[i - frame.back]);
  }
  const Importance& importance = importances[0];
  FrameWeights weights;
  weights.reserve(static_cast<std::size_t>(geometry.mcus()));
  for (int row = 0; row < luma.rows; row += 2) {
    for (int column = 0; column < luma.columns; column += 2) {
      const auto at = static_cast<std::size_t>(row * luma.columns + column);
      const auto below = at + static_cast<std::size_t>(luma.columns);
      const std::uint32_t mean = (importance[at] + importance[at + 1] + importance[below] + importance[below + 1]) / 4;
      weights.push_back(importance_weight(mean, dependents_quarters(dependents)));
    }
  }
  return weights;
}

}  // namespace c63
