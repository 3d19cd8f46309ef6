// cost_candidate() and extend_beam() with the vector library Highway, as in kernels_portable.h. A candidate's four DC
// levels are the four lanes of a register, on every instruction set.

#pragma once

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "codec/dct.h"
#include "cpu/choose_levels_portable.h"
#include "cpu/decision_kernels.h"
#include "cpu/transform_blocks.h"

namespace c63::cpu {
namespace {
namespace portable {

namespace hn = hwy::HWY_NAMESPACE;

using FourInts = hn::Full128<std::int32_t>;
using FourUnsigned = hn::Full128<std::uint32_t>;
using FourFloats = hn::Full128<float>;
using Ints = hn::Vec<FourInts>;
using Unsigned = hn::Vec<FourUnsigned>;
static_assert(kDcLevels == 4);

[[nodiscard]] inline Ints all(std::int32_t value) { return hn::Set(FourInts(), value); }

/// Sets the candidate's levels and costs, as DecisionKernels::cost_candidate() does.
[[maybe_unused]] std::uint8_t cost_candidate(const TransformedBlock& block, Cost ac, const LevelTable& table, BeamCandidate& candidate) {
  const FourInts ints;
  const FourFloats floats;
  const Quantizer& quantizer = table.quantizer;
  const int coefficient = block.coefficients[0];
  const int magnitude = std::abs(coefficient);
  const int nearest = std::min(nearest_level(magnitude, quantizer.reciprocals[0]), kMaxDcMagnitude - 1);
  alignas(16) static constexpr std::int32_t kSteps[4] = {0, INT32_MIN, -1, 1};
  const Ints levels = hn::Max(hn::Add(all(nearest), hn::Load(ints, kSteps)), hn::Zero(ints));
  const Ints restored = hn::ShiftRight<2>(hn::Add(hn::Mul(levels, all(quantizer.steps[0])), all(2)));
  const Ints difference = hn::Sub(all(magnitude), hn::ShiftLeft<2 + kCoefficientFractionBits>(restored));

  const Ints sign = all(coefficient < 0 ? -1 : 0);  // 0 or -1; (v ^ sign) - sign is v or -v
  const Ints signed_levels = hn::Sub(hn::Xor(levels, sign), sign);
  const auto value = hn::ConvertTo(floats, hn::Sub(hn::Xor(restored, sign), sign));
  const auto scale = hn::Set(floats, kDctScale);
  const Ints flat = hn::ConvertTo(ints, hn::Mul(hn::Mul(value, scale), scale));
  const Ints flat_change = hn::Mul(flat, hn::Sub(hn::ShiftLeft<6>(flat), all(2 * block.residual_sum)));
  const Ints empty = hn::Add(hn::ShiftLeft<kCostFractionBits>(hn::Add(all(block.residual_squares), flat_change)),
                             all(table.lambda * table.bits.end_of_block));
  const Ints coded = hn::Add(all(ac), hn::Mul(difference, difference));

  const Ints cheaper = block.ac.kept == 0 ? empty : hn::Min(empty, coded);
  const auto is_empty = hn::Eq(cheaper, empty);
  // The lanes have the nearest level n, level 0, n - 1 and n + 1. Level 0 is only valid if n is above 0, and n - 1 only
  // if n is above 1. Otherwise an earlier lane has the same level.
  alignas(16) static constexpr std::int32_t kNotItself[4] = {-1, 0, 1, -1};
  const auto valid = hn::Gt(all(nearest), hn::Load(ints, kNotItself));
  hn::StoreU(hn::IfThenElse(valid, cheaper, all(kInvalidCost)), ints, candidate.costs.data());
  hn::StoreU(hn::DemoteTo(hn::Full64<std::int16_t>(), signed_levels), hn::Full64<std::int16_t>(), candidate.levels.data());
  std::uint8_t without_ac[8] = {};
  hn::StoreMaskBits(ints, is_empty, without_ac);
  return without_ac[0] & 15;
}

/// Returns the bits of DC differences of the given sizes, one in each lane. A lane of `sizes` has a size in its lowest
/// byte, and its other bytes must be zero.
[[nodiscard]] inline Ints bits_of_sizes(Ints table, Ints sizes) {
  return hn::And(hn::TableLookupBytes(table, sizes), all(0xFF));
}

/// Does what extend_beam() of decide/beam.h does. A key has a cost in its upper bits. Its lowest bits have the number
/// of the continued state, and later the number of the lane. So if costs are equal, the key with the lowest number is
/// the smallest.
[[maybe_unused]] BeamChoices extend_beam(Beam& beam, int width, const BeamCandidate* candidates, int count, int row, int plane, Cost lambda) {
  constexpr int kParentBits = 3;
  constexpr int kLaneBits = 5;
  static_assert(kMaxBeamWidth == 1 << kParentBits && kBeamLanes == 1 << kLaneBits);
  static_assert(kUnreachable <= 1 << (32 - kLaneBits));
  const FourInts ints;
  const FourUnsigned unsigneds;

  const Ints dc_bits_table = hn::BitCast(
      ints, hn::Load(hn::Full128<std::uint8_t>(), kDcBitsOfSizes[plane == 0 ? 0 : 1].data()));
  // The first block of a row has no DC difference that is counted, so the price of its DC bits is 0.
  const Ints price = all(beam.started ? lambda << kParentBits : 0);
  const Ints bias = all(127 << 23);

  Ints least4 = all(kInvalidCost);
  for (int c = 0; c < count; ++c) least4 = hn::Min(least4, hn::LoadU(ints, candidates[c].costs.data()));
  const Ints least = hn::MinOfLanes(ints, least4);

  int parents = width;
  while (beam.states[static_cast<std::size_t>(parents - 1)].cost >= kUnreachable) --parents;

  alignas(16) std::uint32_t by_parent[kBeamLanes];
  Unsigned keys[kBeamCandidates];
  alignas(16) static constexpr std::uint32_t kLanes[4] = {0, 1, 2, 3};
  const Unsigned all_ones = hn::Set(unsigneds, UINT32_MAX);
  for (int c = 0; c < count; ++c) {
    const BeamCandidate& candidate = candidates[c];
    const Ints own = hn::LoadU(ints, candidate.costs.data());
    const Ints twice = hn::ShiftLeft<1>(hn::PromoteTo(ints, hn::LoadU(hn::Full64<std::int16_t>(), candidate.levels.data())));
    Ints best = all(INT32_MAX);
    for (int p = 0; p < parents; ++p) {
      const BeamState& state = beam.states[static_cast<std::size_t>(p)];
      const Cost known = state.cost + lambda * motion_bits(candidate, state.left[static_cast<std::size_t>(row)]);
      // Computes the size of each DC difference d, which is the number of bits of |d|. This is the position of the
      // highest bit of 2|d| + 1. That position is the exponent of the number 2|d| + 1 as a float.
      const Ints difference = hn::Or(hn::Abs(hn::Sub(twice, all(2 * state.dc))), all(1));
      const Ints size = hn::ShiftRight<23>(hn::Sub(hn::BitCast(ints, hn::ConvertTo(FourFloats(), difference)), bias));
      const Ints dc = hn::Mul(bits_of_sizes(dc_bits_table, size), price);
      best = hn::Min(best, hn::Add(dc, all((known << kParentBits) + p)));
    }
    const Ints relative = hn::Min(hn::Sub(own, least), all(kMaxBeamCost));
    const Unsigned whole = hn::BitCast(unsigneds, hn::Add(best, hn::ShiftLeft<kParentBits>(relative)));
    hn::Store(whole, unsigneds, by_parent + 4 * c);
    const Unsigned lanes = hn::Add(hn::Load(unsigneds, kLanes), hn::Set(unsigneds, static_cast<std::uint32_t>(4 * c)));
    const Unsigned key = hn::Or(hn::ShiftLeft<kLaneBits>(hn::ShiftRight<kParentBits>(whole)), lanes);
    keys[c] = hn::Or(key, hn::BitCast(unsigneds, hn::VecFromMask(ints, hn::Eq(own, all(kInvalidCost)))));
  }

  BeamChoices choices{};
  std::array<BeamState, kMaxBeamWidth> next;
  Cost first = 0;
  std::uint32_t above = 0;  // all keys below this are taken already
  for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) {
    Unsigned smallest = all_ones;
    for (int c = 0; c < count; ++c) smallest = hn::Min(smallest, hn::Sub(keys[c], hn::Set(unsigneds, above)));
    const std::uint32_t key = above + hn::GetLane(hn::MinOfLanes(unsigneds, smallest));
    if (key < above || key == UINT32_MAX) break;
    above = key + 1;
    const std::uint32_t lane = key & (kBeamLanes - 1);
    const auto cost = static_cast<Cost>(key >> kLaneBits);
    const std::uint32_t parent = by_parent[lane] & (kMaxBeamWidth - 1);
    if (i == 0) first = cost;
    const BeamCandidate& candidate = candidates[lane / kDcLevels];
    next[i].cost = std::min(cost - first, kMaxBeamCost);
    next[i].dc = candidate.levels[lane % kDcLevels];
    next[i].left = beam.states[parent].left;
    next[i].left[static_cast<std::size_t>(row)] = candidate.vector;
    choices[i] = {static_cast<std::uint8_t>(lane), static_cast<std::uint8_t>(parent)};
  }
  beam.states = next;
  beam.base += hn::GetLane(least) + first;
  beam.started = true;
  return choices;
}

/// Returns the decision kernels of an instruction set without its own forms.
[[maybe_unused]] const DecisionKernels& decision_table() {
  static constexpr DecisionKernels kKernels{transform_blocks<AnyWidth>, choose_levels<PortableKit>, write_levels,
                                            cost_candidate, extend_beam, extend_narrow_by<cost_candidate, extend_beam>};
  return kKernels;
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
