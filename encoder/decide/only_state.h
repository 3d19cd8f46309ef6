#pragma once

#include <array>
#include <cstdint>

#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "codec/vlc.h"
#include "decide/beam.h"
#include "decide/cost.h"
#include "decide/dc_levels.h"

namespace c63 {

// A beam of one state (decide/beam.h), cut into pieces that can be worked on side by side.
//
// A lone state has no cost of its own: what is chosen for a block depends on the DC level of the block before it and the
// vector left of it, nothing else. Blocks of two candidates have eight lanes, so a unit of blocks, the four of an MCU of Y
// or one of U or V, can begin in few ways: its joint with the unit before. From each of them its blocks are chosen, of all units
// at the same time; then a row is walked from joint to joint.

/// A cost with a lane's number behind it: the smallest of several is the cheapest lane's, of equals the first one's.
using LaneCost = std::uint32_t;
inline constexpr int kNarrowLaneBits = 3;
static_assert(kUnreachable <= Cost{1} << (31 - kNarrowLaneBits));
[[nodiscard]] C63_HD constexpr LaneCost lane_cost(Cost cost, int lane = 0) {
  return static_cast<LaneCost>(cost) << kNarrowLaneBits | static_cast<LaneCost>(lane);
}

/// A block of at most two candidates. A lane is a candidate with a DC level.
struct alignas(16) NarrowBlock {
  static constexpr int kLanes = 2 * kDcLevels;
  static_assert(kLanes == 1 << kNarrowLaneBits);

  std::array<LaneCost, kLanes> lanes;       ///< costs above the least, up to kMaxBeamCost
  std::array<std::int16_t, kLanes> levels;
  std::array<VectorNumber, 2> vectors;
  std::array<LaneCost, 2> vector_costs;     ///< λ times the bits of flags and vector, where it is not reused

  /// Sets four lanes, whose block's smallest cost is `least`; `costs` as BeamCandidate's. All are invalid where there is no such
  /// candidate.
  C63_HD void set_candidate(int slot, const std::array<Cost, kDcLevels>& costs, Cost least, VectorNumber vector, int vector_bits,
                            Cost lambda) {
    for (int i = 0; i < kDcLevels; ++i) {
      const Cost relative = costs[i] - least;
      const Cost own = costs[i] == kInvalidCost ? kUnreachable : relative < kMaxBeamCost ? relative : kMaxBeamCost;
      lanes[slot * kDcLevels + i] = lane_cost(own, slot * kDcLevels + i);
    }
    vectors[slot] = vector;
    vector_costs[slot] = lane_cost(lambda * vector_bits);
  }
};

/// λ times the bits of a DC difference of a plane, by its size.
struct DcCosts {
  static constexpr int kSizes = 17;
  std::array<LaneCost, kSizes> by_size;

  C63_HD void set(int size, int plane, Cost lambda) { by_size[size] = lane_cost(lambda * dc_bits((1 << size) - 1, plane)); }
};

/// What the next block's bits depend on.
struct OnlyState {
  bool started = false;
  std::int32_t dc = 0;
  std::array<VectorNumber, 2> left = {kNoVector, kNoVector};
};

/// The lane that extend_beam() of width 1 chooses for a block, and its cost above the least; the state becomes the block's.
C63_HD inline LaneCost extend_only_state(OnlyState& state, const NarrowBlock& block, int row, const DcCosts& dc_costs,
                                         Cost lambda) {
  const VectorNumber left = row == 0 ? state.left[0] : state.left[1];
  LaneCost best = UINT32_MAX;
  for (int slot = 0; slot < 2; ++slot) {
    const VectorNumber vector = block.vectors[slot];
    const LaneCost motion =
        vector != kNoVector && vector == left ? lane_cost(lambda * kVectorFlagBits) : block.vector_costs[slot];
    for (int i = slot * kDcLevels; i < (slot + 1) * kDcLevels; ++i) {
      const LaneCost dc = state.started ? dc_costs.by_size[value_size(block.levels[i] - state.dc)] : 0;
      const LaneCost cost = block.lanes[i] + motion + dc;
      best = cost < best ? cost : best;
    }
  }
  const auto lane = static_cast<int>(best % NarrowBlock::kLanes);
  state.started = true;
  state.dc = block.levels[lane];
  if (row == 0) {
    state.left[0] = block.vectors[lane / kDcLevels];
  } else {
    state.left[1] = block.vectors[lane / kDcLevels];
  }
  return best;
}

/// A unit of `kBlocks` blocks, 4 or 1. Lanes of its blocks are a word, three bits each, the first block's the lowest.
template <int kBlocks>
struct RowUnit {
  static_assert(kBlocks == 4 || kBlocks == 1);
  static constexpr int kJoints = kBlocks == 4 ? 16 : 8;

  [[nodiscard]] C63_HD static constexpr int block_row(int block) { return block / 2; }
  [[nodiscard]] C63_HD static constexpr int lane(unsigned lanes, int block) {
    return static_cast<int>(lanes >> (3 * block) & 7U);
  }
  /// Behind a unit that chose so: the lane of its last block and, of an MCU of Y, the candidate of its upper right one.
  [[nodiscard]] C63_HD static constexpr unsigned joint(unsigned lanes) {
    return kBlocks == 4 ? lanes >> 9 | (lanes >> 5 & 1U) << 3 : lanes;
  }
  [[nodiscard]] C63_HD static constexpr int last_lane(unsigned joint) { return static_cast<int>(joint & 7U); }
  [[nodiscard]] C63_HD static constexpr int upper_candidate(unsigned joint) { return static_cast<int>(joint >> 3); }
};

}  // namespace c63
