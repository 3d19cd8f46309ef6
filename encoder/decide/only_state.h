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

// A beam of one state (decide/beam.h), split into parts that can be computed at the same time.
//
// A single state needs no cost. The choice for a block depends only on the DC level of the previous block and the vector to its
// left. A unit is the four blocks of an MCU of Y, or one block of U or V. Blocks of two candidates have eight lanes. So a unit can
// begin in only a few ways: its joints with the previous unit. All units compute their choices for every joint at the same time.
// Then a row is walked from joint to joint.

/// A cost with a lane's number below it. The smallest one belongs to the cheapest lane; of equals, to the first.
using LaneCost = std::uint32_t;
inline constexpr int kNarrowLaneBits = 3;
static_assert(kUnreachable <= Cost{1} << (31 - kNarrowLaneBits));
[[nodiscard]] C63_HD constexpr LaneCost lane_cost(Cost cost, int lane = 0) {
  return static_cast<LaneCost>(cost) << kNarrowLaneBits | static_cast<LaneCost>(lane);
}

/// A block with at most two candidates. A lane is a candidate with a DC level.
struct alignas(16) NarrowBlock {
  static constexpr int kLanes = 2 * kDcLevels;
  static_assert(kLanes == 1 << kNarrowLaneBits);

  std::array<LaneCost, kLanes> lanes;       ///< costs above the least, up to kMaxBeamCost
  std::array<std::int16_t, kLanes> levels;
  std::array<VectorNumber, 2> vectors;
  std::array<LaneCost, 2> vector_costs;     ///< λ times the bits of flags and vector, if it is not reused

  /// Sets the four lanes of a candidate. `least` is the block's smallest cost, and `costs` is BeamCandidate::costs. All lanes are
  /// invalid if the candidate does not exist.
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

/// The state on which the next block's bits depend.
struct OnlyState {
  bool started = false;
  std::int32_t dc = 0;
  std::array<VectorNumber, 2> left = {kNoVector, kNoVector};
};

/// Returns the lane that extend_beam() of width 1 chooses for a block, and its cost above the least. Updates the state.
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

/// A unit of `kBlocks` blocks, 4 or 1. The lanes of its blocks form a word with three bits each, the first block's lowest.
template <int kBlocks>
struct RowUnit {
  static_assert(kBlocks == 4 || kBlocks == 1);
  static constexpr int kJoints = kBlocks == 4 ? 16 : 8;

  [[nodiscard]] C63_HD static constexpr int block_row(int block) { return block / 2; }
  [[nodiscard]] C63_HD static constexpr int lane(unsigned lanes, int block) {
    return static_cast<int>(lanes >> (3 * block) & 7U);
  }
  /// The joint after a unit with these lanes: the lane of its last block and, for an MCU of Y, the candidate of its upper right
  /// one.
  [[nodiscard]] C63_HD static constexpr unsigned joint(unsigned lanes) {
    return kBlocks == 4 ? lanes >> 9 | (lanes >> 5 & 1U) << 3 : lanes;
  }
  [[nodiscard]] C63_HD static constexpr int last_lane(unsigned joint) { return static_cast<int>(joint & 7U); }
  [[nodiscard]] C63_HD static constexpr int upper_candidate(unsigned joint) { return static_cast<int>(joint >> 3); }
};

}  // namespace c63
