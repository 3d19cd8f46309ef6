#include "decide/propagated_weights.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "decide/activity_weights.h"

namespace c63 {
namespace {

/// How much each luma block's error counts, with 8 fraction bits.
using Importance = std::vector<std::uint32_t>;
constexpr std::uint32_t kOne = 256;
/// Where many blocks are predicted from few, again and again. Products with shares and areas fit in 32 bits.
constexpr std::uint32_t kMost = 1 << 20;

/// The share of a reference's squared error that a block takes over which has this error against it.
std::uint16_t passed_on(std::uint32_t squared_error, Cost lambda) {
  // An error of 2λ a sample, 0.4 squared steps: what is below is mostly coded as nothing.
  const std::uint64_t scale = std::max<std::uint64_t>(1, 2 * static_cast<std::uint64_t>(lambda));
  const std::uint64_t mean = (std::uint64_t{squared_error} << kCostFractionBits) / kBlockSamples;
  const auto survives = static_cast<std::uint32_t>(kOne * scale / (scale + mean));
  return static_cast<std::uint16_t>(survives * survives / kOne);
}

/// Adds what the blocks of a frame take over to what those of its reference count.
void add_to_reference(const PlaneGeometry& geometry, const ErrorFlow& flow, const Importance& own, Importance& reference) {
  for (int row = 0; row < geometry.rows; ++row) {
    for (int column = 0; column < geometry.columns; ++column) {
      const auto block = static_cast<std::size_t>(row * geometry.columns + column);
      const std::uint32_t passed = own[block] * flow[block].share / kOne;
      if (passed == 0) continue;
      const int x = column * kBlockSize + flow[block].vector.x;
      const int y = row * kBlockSize + flow[block].vector.y;
      const int right = x % kBlockSize;
      const int below = y % kBlockSize;
      const auto add = [&](int dx, int dy, int area) {
        if (area == 0) return;
        const auto at = static_cast<std::size_t>((y / kBlockSize + dy) * geometry.columns + x / kBlockSize + dx);
        reference[at] = std::min(kMost, reference[at] + passed * static_cast<std::uint32_t>(area) / kBlockSamples);
      };
      add(0, 0, (kBlockSize - right) * (kBlockSize - below));
      add(1, 0, right * (kBlockSize - below));
      add(0, 1, (kBlockSize - right) * below);
      add(1, 1, right * below);
    }
  }
}

/// Quarters of an octave of λ for a whole frame: nothing is predicted from it, one frame is, or several are.
int quarters_of(std::ptrdiff_t dependents) { return dependents == 0 ? 2 : dependents == 1 ? 0 : -1; }

/// λ falls with the power 0.3 of what an MCU's error counts, from 0.6 quarters of an octave above the frame's.
Weight weight_of(int sixteenths, int quarters) {
  constexpr int kForty = kWeights * 40;  // a shift that keeps the quotient positive
  quarters += (24 + 20 - 3 * sixteenths + kForty) / 40 - kWeights;
  return static_cast<Weight>(std::clamp(kPlainWeight + quarters, 0, kWeights - 1));
}

}  // namespace

ErrorFlow error_flow(const SourceMotion& motion, Cost lambda) {
  ErrorFlow flow;
  flow.reserve(motion.size());
  for (const SourceBlock& block : motion) flow.push_back({block.vector, passed_on(block.squared_error, lambda)});
  return flow;
}

FrameWeights propagated_weights(const Geometry& geometry, std::span<const LaterFrame> later) {
  const PlaneGeometry luma = geometry.plane(0);
  std::vector<Importance> importances(later.size() + 1, Importance(static_cast<std::size_t>(luma.blocks()), kOne));
  std::ptrdiff_t dependents = 0;
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
      weights.push_back(weight_of(log2_in_sixteenths(mean) - log2_in_sixteenths(kOne), quarters_of(dependents)));
    }
  }
  return weights;
}

}  // namespace c63
