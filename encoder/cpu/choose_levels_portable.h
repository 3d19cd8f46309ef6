#pragma once

// choose_ac_masks() in three steps, which keep the chain of dependent operations short. First it computes the two
// possible levels of all kept coefficients, many at a time. Then, for each coefficient, it computes the cost of the
// cheaper level after every possible number of zeros. A path is a list of the coefficients whose levels are not zero.
// The search for the cheapest path then needs one addition and one comparison for each coefficient that it may continue
// from.
//
// Uses the library Highway for vectors, so it serves every instruction set. Everything is local to the file that
// includes it, as in kernels_portable.h.

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "cpu/decision_kernels.h"

namespace c63::cpu {
namespace {
namespace portable {

namespace hn = hwy::HWY_NAMESPACE;

/// Higher than the cost of any way to code a block. Adding the costs of two more levels does not overflow.
constexpr Cost kNoWay = 1 << 30;

/// The two possible levels of each coefficient: the nearest one and the one below.
struct TwoLevels {
  alignas(64) std::array<std::int32_t, 64> nearest;
  /// How much each of the two levels changes the squared error of the block, compared with level 0: array 0 for the
  /// nearest level, array 1 for the one below. If the one below is 0, its entry is kNoWay, so that it is never chosen.
  alignas(64) std::array<Cost, 64> distortions[2];

  /// Returns the costs of the code of coefficient k's nearest level (below = 0) or the one below it (below = 1): one
  /// cost for each number of zeros before it, 0 to 15.
  [[nodiscard, gnu::always_inline]] const Cost* code_costs(const LevelTable& table, std::size_t k, int below) const {
    // The size is the number of bits that the level needs. The formula is also right for level 0, so no branch is
    // needed.
    const int size = 31 - std::countl_zero(static_cast<std::uint32_t>(2 * (nearest[k] - below) + 1));
    return table.level_costs[static_cast<std::size_t>(size)].data();
  }
};

/// Computes the levels of the coefficients, in groups of sixteen. Groups without a kept coefficient are skipped.
[[gnu::always_inline]] inline void find_levels(const TransformedBlock& block, const Quantizer& quantizer, TwoLevels& found) {
  const hn::CappedTag<std::int32_t, 16> ints;
  const hn::Rebind<std::int16_t, decltype(ints)> shorts;
  const hn::Rebind<std::uint8_t, decltype(ints)> bytes;
  const auto one = hn::Set(ints, 1);
  const auto most = hn::Set(ints, quantizer.max_level);
  const auto half = hn::Set(ints, 1 << 19);
  for (std::size_t first = 0; first < 64; first += 16) {
    if ((block.ac.kept >> first & 0xFFFF) == 0) continue;
    for (std::size_t k = first; k < first + 16; k += hn::Lanes(ints)) {
      const auto magnitude = hn::Abs(hn::PromoteTo(ints, hn::Load(shorts, block.coefficients.data() + k)));
      const auto step = hn::PromoteTo(ints, hn::LoadU(bytes, quantizer.steps.data() + k));
      const auto reciprocal = hn::LoadU(ints, quantizer.reciprocals.data() + k);
      const auto rounded = hn::ShiftRight<20>(hn::Add(hn::Mul(magnitude, reciprocal), half));
      const auto nearest = hn::Min(hn::Max(rounded, one), most);
      hn::Store(nearest, ints, found.nearest.data() + k);
      auto product = hn::Mul(nearest, step);
      auto level = nearest;
      for (int i = 0; i < 2; ++i) {
        const auto shown = hn::ShiftLeft<2 + kCoefficientFractionBits>(hn::ShiftRight<2>(hn::Add(product, hn::Set(ints, 2))));
        const auto change = hn::Mul(shown, hn::Sub(shown, hn::Add(magnitude, magnitude)));
        const auto none = hn::Eq(level, hn::Zero(ints));
        hn::Store(hn::IfThenElse(none, hn::Set(ints, kNoWay), change), ints, found.distortions[i].data() + k);
        product = hn::Sub(product, step);
        level = hn::Sub(level, one);
      }
    }
  }
}

/// The kept coefficients (AcSummary::kept), numbered in order from 1. Number 0 is the start of the block. Negative
/// numbers are unreachable nodes: every coefficient looks back at kLookBack nodes, and the first coefficients have
/// fewer before them.
class Nodes {
 public:
  Nodes() {
    for (int before = -kBefore; before <= 0; ++before) {
      place(before) = 0;
      cost(before) = before < 0 ? kNoWay : 0;
    }
  }

  /// Computes, for every kept coefficient, the cost of its cheaper level after any number of zeros.
  [[gnu::always_inline]] inline void find(const TransformedBlock& block, const LevelTable& table, const TwoLevels& levels) {
    const hn::CappedTag<Cost, kZeroRun> ints;
    const auto zero_run = hn::Set(ints, table.lambda * table.bits.zero_run);
    int number = 0;
    for (std::uint64_t rest = block.ac.kept; rest != 0; rest &= rest - 1) {
      const auto k = static_cast<std::size_t>(std::countr_zero(rest));
      const Cost* const costs_of_nearest = levels.code_costs(table, k, 0);
      const Cost* const costs_of_below = levels.code_costs(table, k, 1);
      const auto nearest = hn::Set(ints, levels.distortions[0][k]);
      const auto below = hn::Set(ints, levels.distortions[1][k]);
      Cost* const cheaper = behind_[number++];
      for (std::size_t zeros = 0; zeros < kZeroRun; zeros += hn::Lanes(ints)) {
        auto cost = hn::Min(hn::Add(nearest, hn::Load(ints, costs_of_nearest + zeros)),
                            hn::Add(below, hn::Load(ints, costs_of_below + zeros)));
        hn::Store(cost, ints, cheaper + zeros);
        for (std::size_t more = zeros + kZeroRun; more < k; more += kZeroRun) {
          cost = hn::Add(cost, zero_run);
          hn::Store(cost, ints, cheaper + more);
        }
      }
      place(number) = static_cast<std::ptrdiff_t>(k);
    }
    count_ = number;
  }

  [[nodiscard]] int count() const { return count_; }
  /// The position of the node's coefficient in zig-zag order; 0 for the start.
  [[nodiscard]] std::ptrdiff_t& place(int number) { return places_[static_cast<std::size_t>(number + kBefore)]; }
  /// The cost of the cheapest path to the node, without an end of block, minus the squared error if all levels are
  /// zero.
  [[nodiscard]] Cost& cost(int number) { return costs_[static_cast<std::size_t>(number + kBefore)]; }
  /// Entry i is the cost of the node's cheaper level if i zeros come before it.
  [[nodiscard]] const Cost* behind(int number) const { return behind_[number - 1]; }

 private:
  static constexpr int kBefore = kLookBack - 1;

  int count_ = 0;
  std::array<std::ptrdiff_t, 64 + kBefore> places_;
  std::array<Cost, 64 + kBefore> costs_;
  alignas(64) Cost behind_[63][64];
};

/// The cheapest path through the nodes: the node before each node, and the last node.
struct Ways {
  std::array<std::uint8_t, 64> previous;
  int last = 0;
};

/// Replaces `cost` and `number` by `other` and `other_number` if `other` is less. There is no branch, because the
/// result is unpredictable.
[[gnu::always_inline]] inline void take_cheaper(Cost other, int other_number, Cost& cost, int& number) {
  const bool is_less = other < cost;
  cost = is_less ? other : cost;
  number = is_less ? other_number : number;
  asm("" : "+r"(cost));
}

[[gnu::always_inline]] inline Cost choose(Nodes& nodes, bool full, Cost end, Ways& ways) {
  Cost older = kNoWay;  // the cheapest path that ends before the last three nodes
  std::ptrdiff_t older_place = 0;
  int older_number = 0;
  Cost cost = 0;
  Cost best = 0;  // cost of the best path without its end of block
  int best_number = 0;
  for (int number = 1; number <= nodes.count(); ++number) {
    const Cost* const start = nodes.behind(number) + nodes.place(number) - 1;
    const auto behind = [&](int before) { return nodes.cost(before) + start[-nodes.place(before)]; };
    const Cost behind_last = cost + start[-nodes.place(number - 1)];
    int from = older_number;
    cost = older + start[-older_place];
    asm("" : "+r"(cost));
    take_cheaper(behind(number - 3), number - 3, cost, from);
    take_cheaper(behind(number - 2), number - 2, cost, from);
    take_cheaper(behind_last, number - 1, cost, from);
    nodes.cost(number) = cost;
    ways.previous[static_cast<std::size_t>(number)] = static_cast<std::uint8_t>(from);
    const Cost third = nodes.cost(number - 3);
    const bool third_is_cheaper = third <= older;
    older = third_is_cheaper ? third : older;
    older_place = third_is_cheaper ? nodes.place(number - 3) : older_place;
    older_number = third_is_cheaper ? number - 3 : older_number;
    take_cheaper(cost, number, best, best_number);
  }
  // No end of block follows coefficient 63, so a path that ends there saves the bits of the end of block.
  const bool ends_full = full && cost < best + end;
  ways.last = ends_full ? nodes.count() : best_number;
  return ends_full ? cost : best + end;
}

/// Does what choose_ac_masks() does.
inline AcChoice choose_levels_of(const TransformedBlock& block, const LevelTable& table) {
  const Cost end = table.lambda * table.bits.end_of_block;
  if (block.ac.kept == 0) return {block.ac.energy + end, 0, 0};
  TwoLevels both;
  find_levels(block, table.quantizer, both);
  Nodes nodes;
  nodes.find(block, table, both);
  Ways ways;
  AcChoice choice{block.ac.energy + choose(nodes, (block.ac.kept >> 63) != 0, end, ways), 0, 0};
  for (int number = ways.last; number > 0;) {
    const auto k = static_cast<std::size_t>(nodes.place(number));
    number = ways.previous[static_cast<std::size_t>(number)];
    const auto zeros = k - static_cast<std::size_t>(nodes.place(number)) - 1;
    const auto cost_of = [&](int below) { return both.distortions[below][k] + both.code_costs(table, k, below)[zeros % kZeroRun]; };
    choice.coded |= std::uint64_t{1} << k;
    choice.lower |= std::uint64_t{cost_of(1) < cost_of(0)} << k;
  }
  return choice;
}

[[maybe_unused]] void choose_levels(std::span<const TransformedBlock> blocks, const LevelTable& table, AcChoice* choices) {
  for (const TransformedBlock& block : blocks) *choices++ = choose_levels_of(block, table);
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
