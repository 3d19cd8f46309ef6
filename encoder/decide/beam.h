#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "c63/motion_vector.h"
#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "decide/cost.h"
#include "decide/dc_levels.h"

namespace c63 {

// The choice of vectors and DC levels for the blocks of one plane in one MCU row. The cost of a block's vector and DC level
// depends on the blocks before it. So the few cheapest ways to code all blocks so far are kept: a beam. MCU rows are
// independent: the DC difference of a row's first block is not counted.

/// The vector of a block as one number. It is kNoVector for blocks without a vector, and left of column 0.
using VectorNumber = std::int32_t;
inline constexpr VectorNumber kNoVector = -1;
[[nodiscard]] C63_HD constexpr VectorNumber vector_number(MotionVector vector) {
  return (vector.x & 255) << 8 | (vector.y & 255);
}
[[nodiscard]] C63_HD constexpr MotionVector vector_of(VectorNumber number) {
  if (number == kNoVector) return {};
  return {static_cast<std::int8_t>(number >> 8), static_cast<std::int8_t>(number & 255)};
}

inline constexpr int kMaxBeamWidth = 8;
inline constexpr int kBeamCandidates = 8;                       ///< per block
inline constexpr int kBeamLanes = kBeamCandidates * kDcLevels;  ///< a lane is a candidate with a DC level

/// The cost of an invalid DC level of a candidate.
inline constexpr Cost kInvalidCost = INT32_MAX;
/// Costs in a beam are relative to the least, and are limited to this. A way that costs so much more (128 bits at the largest λ)
/// is never chosen in the end. The sum of two such costs and a block's bits stays below kUnreachable. That leaves room for a
/// lane's number below a cost.
inline constexpr Cost kMaxBeamCost = 1 << 25;
inline constexpr Cost kUnreachable = 1 << 27;

/// One way to code a block, without its DC level.
struct BeamCandidate {
  VectorNumber vector = kNoVector;
  std::int32_t vector_bits = 0;  ///< of flags and vector, if it is not reused
  std::array<std::int16_t, kDcLevels> levels{};
  std::array<Cost, kDcLevels> costs{};  ///< D + λR without vector, flags and DC; kInvalidCost: not a separate level
};

/// One way to code all blocks so far.
struct BeamState {
  Cost cost = kUnreachable;
  std::int32_t dc = 0;                                        ///< of the previous block
  std::array<VectorNumber, 2> left = {kNoVector, kNoVector};  ///< the last vectors of both block rows of the MCU row
};

/// The states so far, cheapest first.
struct Beam {
  std::array<BeamState, kMaxBeamWidth> states;
  std::int64_t base = 0;  ///< the cost of the first state so far
  bool started = false;

  C63_HD Beam() { states[0].cost = 0; }
};

/// The lane with which a state codes the latest block, and the state that it continues.
struct BeamChoice {
  std::uint8_t lane = 0;  ///< candidate · kDcLevels + DC level
  std::uint8_t parent = 0;
};
using BeamChoices = std::array<BeamChoice, kMaxBeamWidth>;

/// The bits of a block's vector, including flags, if its left neighbour has the vector `left`.
[[nodiscard]] C63_HD inline int motion_bits(const BeamCandidate& candidate, VectorNumber left) {
  return candidate.vector != kNoVector && candidate.vector == left ? kVectorFlagBits : candidate.vector_bits;
}

/// Extends the first `width` states of a beam by a block in block row `row` (0 or 1) of its MCU row. Each lane continues the state
/// from which it is cheapest. The `width` cheapest lanes become the new states. Of equals, the first wins. At least one of the 1
/// to kBeamCandidates candidates must have a valid cost.
C63_HD inline BeamChoices extend_beam(Beam& beam, int width, const BeamCandidate* candidates, int count, int row, int plane,
                                      Cost lambda) {
  Cost least = kInvalidCost;
  for (int lane = 0; lane < count * kDcLevels; ++lane) {
    const Cost cost = candidates[lane / kDcLevels].costs[lane % kDcLevels];
    if (cost < least) least = cost;
  }
  std::array<Cost, kBeamLanes> costs;
  std::array<std::uint8_t, kBeamLanes> parents;
  for (int lane = 0; lane < kBeamLanes; ++lane) {
    costs[lane] = kUnreachable;
    parents[lane] = 0;
    if (lane >= count * kDcLevels) continue;
    const BeamCandidate& candidate = candidates[lane / kDcLevels];
    if (candidate.costs[lane % kDcLevels] == kInvalidCost) continue;
    const Cost relative = candidate.costs[lane % kDcLevels] - least;
    const Cost own = relative < kMaxBeamCost ? relative : kMaxBeamCost;
    for (int p = 0; p < width; ++p) {
      const BeamState& state = beam.states[p];
      if (state.cost >= kUnreachable) continue;
      const int dc = beam.started ? dc_bits(candidate.levels[lane % kDcLevels] - state.dc, plane) : 0;
      const Cost cost = state.cost + own + lambda * (motion_bits(candidate, state.left[row]) + dc);
      if (cost < costs[lane]) {
        costs[lane] = cost;
        parents[lane] = static_cast<std::uint8_t>(p);
      }
    }
  }
  BeamChoices choices{};
  std::array<BeamState, kMaxBeamWidth> next;
  Cost first = 0;
  for (int i = 0; i < width; ++i) {
    int best = 0;
    for (int lane = 1; lane < kBeamLanes; ++lane) {
      if (costs[lane] < costs[best]) best = lane;
    }
    if (costs[best] >= kUnreachable) break;
    if (i == 0) first = costs[best];
    const BeamCandidate& candidate = candidates[best / kDcLevels];
    const Cost cost = costs[best] - first;
    next[i].cost = cost < kMaxBeamCost ? cost : kMaxBeamCost;
    next[i].dc = candidate.levels[best % kDcLevels];
    next[i].left = beam.states[parents[best]].left;
    next[i].left[row] = candidate.vector;
    choices[i] = {static_cast<std::uint8_t>(best), parents[best]};
    costs[best] = kUnreachable;
  }
  beam.states = next;
  beam.base += least + first;
  beam.started = true;
  return choices;
}

}  // namespace c63
