#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "c63/motion_vector.h"
#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "decide/cost.h"
#include "decide/rdoq.h"
#include "decide/weights.h"

namespace c63 {

// A beam search for the vectors and DC levels of one plane's blocks in one MCU row. What a vector or DC level costs
// depends on the previous blocks. So the search keeps the few cheapest ways to code all blocks so far. MCU rows are
// independent: the bits of the first block's DC difference are not counted.

/// A block's vector as one number. kNoVector is used for blocks without a vector, and for the neighbour left of column
/// 0.
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
inline constexpr int kBeamCandidates = 8;                       ///< candidates per block, at most
inline constexpr int kBeamLanes = kBeamCandidates * kDcLevels;  ///< A lane is a candidate with one of its DC levels.

/// The cost of a DC level that a candidate does not have.
inline constexpr Cost kInvalidCost = INT32_MAX;
/// The cost of a state in a beam is its difference from the cheapest state's cost. It is limited to kMaxBeamCost, which
/// is the price of 128 bits at the largest λ. A state that costs so much more never wins in the end. The sum of two
/// such costs and a block's bits is below kUnreachable. So a cost has free high bits: it can be shifted left, and a
/// lane's number put into its lowest bits.
inline constexpr Cost kMaxBeamCost = 1 << 25;
inline constexpr Cost kUnreachable = 1 << 27;

/// The transformed difference between a block and one of its predictions.
struct TransformedBlock {
  alignas(64) std::array<std::int16_t, 64> coefficients;  ///< zig-zag order
  std::int32_t residual_sum;      ///< sum of the residuals
  std::int32_t residual_squares;
  AcSummary ac;
};

/// Returns the cost of a block with each of its DC levels, without the bits of flags, vector and DC level. The block
/// either has the AC levels that cost `ac`, or has no AC levels. It has none if that is not more expensive. Bit i of
/// `without_ac` is set if the block has no AC levels with DC level i. The error of a block without AC levels is
/// computed from samples, as a decoder restores them. Otherwise it is computed from coefficients.
[[nodiscard]] C63_HD inline std::array<Cost, kDcLevels> block_costs(const TransformedBlock& block, const DcLevels& dc,
                                                                    Cost ac, const Quantizer& quantizer,
                                                                    const AcBits& bits, Cost lambda,
                                                                    std::uint8_t& without_ac) {
  std::array<Cost, kDcLevels> costs{};
  without_ac = 0;
  for (std::size_t i = 0; i < kDcLevels; ++i) {
    const int flat = flat_residual(dc.levels[i], quantizer.steps[0]);
    const Cost empty = flat_error(block.residual_sum, block.residual_squares, flat) + lambda * bits.end_of_block;
    const Cost coded = ac + dc.errors[i];
    const bool is_empty = block.ac.kept == 0 || empty <= coded;
    if (is_empty) without_ac = static_cast<std::uint8_t>(without_ac | 1U << i);
    costs[i] = !dc.valid[i] ? kInvalidCost : is_empty ? empty : coded;
  }
  return costs;
}

/// One way to code a block: its prediction, with several DC levels to choose from.
struct BeamCandidate {
  VectorNumber vector = kNoVector;
  std::int32_t vector_bits = 0;  ///< bits of flags and vector, if the vector is not that of the left neighbour
  std::array<std::int16_t, kDcLevels> levels{};
  /// D + λR of each DC level, without the bits of vector, flags and DC; kInvalidCost: no such level.
  std::array<Cost, kDcLevels> costs{};
};

/// One way to code all blocks so far: its cost, and what the following blocks depend on.
struct BeamState {
  Cost cost = kUnreachable;
  std::int32_t dc = 0;                                        ///< DC level of the previous block
  /// The last vector in each of the two block rows of the MCU row.
  std::array<VectorNumber, 2> left = {kNoVector, kNoVector};
};

/// The kept states, cheapest first.
struct Beam {
  std::array<BeamState, kMaxBeamWidth> states;
  std::int64_t base = 0;  ///< cost of the cheapest state; the states' costs are differences from it
  bool started = false;

  C63_HD Beam() { states[0].cost = 0; }
};

/// What a state chose for the latest block, and the state that it continues.
struct BeamChoice {
  std::uint8_t lane = 0;  ///< candidate · kDcLevels + DC level
  std::uint8_t parent = 0;
};
using BeamChoices = std::array<BeamChoice, kMaxBeamWidth>;

/// Returns the bits of a candidate's vector and flags. `left` is the vector of the block's left neighbour.
[[nodiscard]] C63_HD inline int motion_bits(const BeamCandidate& candidate, VectorNumber left) {
  return candidate.vector != kNoVector && candidate.vector == left ? kVectorFlagBits : candidate.vector_bits;
}

/// Extends the first `width` states of a beam by one block, which lies in block row `row` (0 or 1) of its MCU row. A
/// lane is a candidate with one of its DC levels. Each lane continues the state with which its cost is lowest. The
/// `width` cheapest lanes become the new states; of lanes with equal costs, the first is taken. `count` is
/// 1..kBeamCandidates; at least one candidate must have a valid cost.
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
