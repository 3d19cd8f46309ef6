#pragma once

#include <array>
#include <cstdint>

#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "codec/vlc.h"
#include "decide/beam.h"
#include "decide/cost.h"

namespace c63 {

// A beam search that keeps only one state (decide/beam.h), computed in parts that can run at the same time.
//
// There is no other state with which the cost could be compared, so the state has no cost. The choice for a block
// depends only on the previous block's DC level and the left neighbour's vector. These words are used:
//
//   lane   a candidate of a block with one of its DC levels; a block with two candidates has eight lanes
//   unit   the four blocks of an MCU of Y, or one block of U or V
//   joint  the end of a unit, as far as the next unit depends on it: one of 8 or 16 possible cases
//
// First, all units compute their choices at the same time, for every joint that the previous unit could have. Then one
// pass over the row goes from unit to unit and finds the joint that each unit really has.

/// A cost, with a lane's number in its lowest bits. So the smallest LaneCost is that of the cheapest lane. Of equal
/// costs, the first lane has the smallest.
using LaneCost = std::uint32_t;
inline constexpr int kNarrowLaneBits = 3;
static_assert(kUnreachable <= Cost{1} << (31 - kNarrowLaneBits));
[[nodiscard]] C63_HD constexpr LaneCost lane_cost(Cost cost, int lane = 0) {
  return static_cast<LaneCost>(cost) << kNarrowLaneBits | static_cast<LaneCost>(lane);
}

/// A block with at most two candidates. A lane is a candidate with one of its DC levels.
struct alignas(16) NarrowBlock {
  static constexpr int kLanes = 2 * kDcLevels;
  static_assert(kLanes == 1 << kNarrowLaneBits);

  /// Costs above the block's smallest cost, up to kMaxBeamCost; kUnreachable for DC levels that are not valid.
  std::array<LaneCost, kLanes> lanes;
  std::array<std::int16_t, kLanes> levels;
  std::array<VectorNumber, 2> vectors;
  /// λ times the bits of flags and vector, if the vector is not that of the left neighbour.
  std::array<LaneCost, 2> vector_costs;

  /// Sets the four lanes of candidate `slot`. `costs` is BeamCandidate::costs, and `least` is the block's smallest
  /// cost. A candidate that does not exist has only invalid costs.
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

/// λ times the bits of a DC difference in a plane, by the size of the difference.
struct DcCosts {
  static constexpr int kSizes = 17;
  std::array<LaneCost, kSizes> by_size;

  C63_HD void set(int size, int plane, Cost lambda) { by_size[size] = lane_cost(lambda * dc_bits((1 << size) - 1, plane)); }
};

/// What the costs of the next block depend on: the previous block's DC level, and the last vector in each block row of
/// the MCU row.
struct GreedyRow {
  bool started = false;
  std::int32_t dc = 0;
  std::array<VectorNumber, 2> left = {kNoVector, kNoVector};
};

/// Makes the same choice for a block as extend_beam() with width 1, and updates the state. Returns the chosen lane and
/// its cost, from which the block's smallest cost is subtracted.
C63_HD inline LaneCost extend_greedy_row(GreedyRow& state, const NarrowBlock& block, int row, const DcCosts& dc_costs,
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

/// A unit of 4 or 1 blocks (see the top of this file). The chosen lanes of its blocks are stored in one word, three
/// bits for each, the first block's in the lowest bits.
template <int kBlocks>
struct RowUnit {
  static_assert(kBlocks == 4 || kBlocks == 1);
  static constexpr int kJoints = kBlocks == 4 ? 16 : 8;

  [[nodiscard]] C63_HD static constexpr int block_row(int block) { return block / 2; }
  [[nodiscard]] C63_HD static constexpr int lane(unsigned lanes, int block) {
    return static_cast<int>(lanes >> (3 * block) & 7U);
  }
  /// Returns the joint of a unit whose blocks have these lanes. The lowest three bits are the last block's lane. For an
  /// MCU of Y, the next bit is the candidate of the upper right block, because its vector is the left neighbour of the
  /// next MCU's first block.
  [[nodiscard]] C63_HD static constexpr unsigned joint(unsigned lanes) {
    return kBlocks == 4 ? lanes >> 9 | (lanes >> 5 & 1U) << 3 : lanes;
  }
  [[nodiscard]] C63_HD static constexpr int last_lane(unsigned joint) { return static_cast<int>(joint & 7U); }
  [[nodiscard]] C63_HD static constexpr int upper_candidate(unsigned joint) { return static_cast<int>(joint >> 3); }
};

}  // namespace c63
