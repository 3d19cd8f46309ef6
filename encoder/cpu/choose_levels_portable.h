#pragma once

// choose_ac_levels() with what does not wait for anything taken out of the loop that does. First the two levels of every
// kept coefficient, many at a time; then, coefficient by coefficient, the cheaper of the two behind each one that it may
// follow. What each waits for is one addition and one comparison.
//
// In Highway's terms, for every instruction set; everything is local to the file that includes it, as in kernels_portable.h.

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "cpu/decision_kernels.h"

namespace c63::cpu {
namespace {
namespace portable {

namespace hn = hwy::HWY_NAMESPACE;

/// More than any way to code a block costs; two levels' costs more still fit.
constexpr Cost kNoWay = 1 << 30;

/// The two levels of coefficients: the nearest, and the one below.
struct TwoLevels {
  alignas(64) std::array<std::int32_t, 64> nearest;
  alignas(64) std::array<Cost, 64> distortions[2];     ///< what they change of the squared error
  alignas(64) std::array<std::int32_t, 64> sizes[2];
};

/// Fills in the sixteens of coefficients that have a kept one.
[[gnu::always_inline]] inline void find_levels(const TransformedBlock& block, const Quantizer& quantizer, TwoLevels& found) {
  const hn::CappedTag<std::int32_t, 16> ints;
  const hn::RebindToFloat<decltype(ints)> floats;
  const hn::Rebind<std::int16_t, decltype(ints)> shorts;
  const hn::Rebind<std::uint8_t, decltype(ints)> bytes;
  const auto one = hn::Set(ints, 1);
  const auto most = hn::Set(ints, quantizer.max_level);
  const auto half = hn::Set(ints, 1 << 19);
  const auto bias = hn::Set(ints, 126 << 23);
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
        // As a float a number has its size for its exponent; zero has the least.
        const auto exponent = hn::Sub(hn::BitCast(ints, hn::ConvertTo(floats, level)), bias);
        hn::Store(hn::ShiftRight<23>(hn::Max(exponent, hn::Zero(ints))), ints, found.sizes[i].data() + k);
        product = hn::Sub(product, step);
        level = hn::Sub(level, one);
      }
    }
  }
}

/// How many costs LevelTable::level_costs has for each number of zeros.
constexpr int kRow = static_cast<int>(kLevelCostSizes);

/// A coefficient's two levels, and what their codes cost: `costs` point to where no zeros and no coefficient are before.
struct Choice {
  Cost distortions[2];
  const Cost* costs[2];

  [[gnu::always_inline]] Choice(const TwoLevels& levels, const LevelTable& table, int k) {
    for (int i = 0; i < 2; ++i) {
      distortions[i] = levels.distortions[i][static_cast<std::size_t>(k)];
      costs[i] = table.level_costs[static_cast<std::size_t>(k - 1)].data() + levels.sizes[i][static_cast<std::size_t>(k)];
    }
  }
  [[nodiscard, gnu::always_inline]] Cost of(int i, std::ptrdiff_t before) const { return distortions[i] + costs[i][before]; }
  /// The cheaper level's behind a coefficient.
  [[nodiscard, gnu::always_inline]] Cost cheaper(std::ptrdiff_t before) const {
    Cost nearest = of(0, before);
    Cost below = of(1, before);
    asm("" : "+r"(nearest), "+r"(below));  // not compared in vector registers, where compilers would do it too
    return below < nearest ? below : nearest;
  }
};

/// A kept coefficient, its cheapest way known.
struct Node {
  Cost cost = kNoWay;         ///< less that of all zeros
  std::ptrdiff_t before = 0;  ///< -kRow·k: by how much costs are further back for it
};

/// What the way back through the kept coefficients is told from; number 0 is the start.
struct Ways {
  std::array<Cost, 64> costs;
  std::array<std::uint8_t, 64> k;
  std::array<std::int8_t, 64> older;  ///< the cheapest of those before the last three
};

template <bool kKeepWays>
[[gnu::always_inline]] inline Cost choose(const TransformedBlock& block, const LevelTable& table, const TwoLevels& levels,
                                          Ways& ways) {
  Node older;
  Node third;
  Node second;
  Node first{0, 0};  // the last: the start
  int older_number = 0;
  int number = 0;
  const Cost end = table.lambda * table.bits.end_of_block;
  Cost best = 0;  // but for the end
  Cost cost = 0;
  for (std::uint64_t rest = block.ac.kept; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    const Choice choice(levels, table, k);
    const Cost behind_older = older.cost + choice.cheaper(older.before);
    const Cost behind_third = third.cost + choice.cheaper(third.before);
    const Cost behind_second = second.cost + choice.cheaper(second.before);
    const Cost behind_first = first.cost + choice.cheaper(first.before);
    cost = std::min(std::min(std::min(behind_older, behind_third), behind_second), behind_first);
    asm("" : "+r"(cost));
    ++number;
    if constexpr (kKeepWays) {
      const auto n = static_cast<std::size_t>(number);
      ways.costs[n] = cost;
      ways.k[n] = static_cast<std::uint8_t>(k);
      ways.older[n] = static_cast<std::int8_t>(older_number);
    }
    const bool third_is_cheaper = third.cost <= older.cost;
    older.cost = third_is_cheaper ? third.cost : older.cost;
    older.before = third_is_cheaper ? third.before : older.before;
    if constexpr (kKeepWays) older_number = third_is_cheaper ? number - 3 : older_number;
    third = second;
    second = first;
    first = {cost, -kRow * k};
    best = std::min(best, cost);
  }
  // Nothing ends behind coefficient 63. What is before it may be as cheap only with its end.
  const bool full = (block.ac.kept >> 63) != 0;
  return full && cost < best + end ? cost : best + end;
}

/// The number of the kept coefficient that the cheapest way to number `i` comes from.
[[gnu::always_inline]] inline std::size_t previous_of(std::size_t i, const Ways& ways, const Choice& choice) {
  const auto comes_from = [&](std::size_t p) { return ways.costs[p] + choice.cheaper(-kRow * ways.k[p]) == ways.costs[i]; };
  if (i > 3 && comes_from(static_cast<std::size_t>(ways.older[i]))) return static_cast<std::size_t>(ways.older[i]);
  for (std::size_t back = std::min(i, std::size_t{kLookBack}); back > 1; --back) {
    if (comes_from(i - back)) return i - back;
  }
  return i - 1;
}

/// choose_ac_levels()
[[maybe_unused]] Cost choose_levels(const TransformedBlock& block, const LevelTable& table, std::int16_t* levels) {
  TwoLevels both;
  find_levels(block, table.quantizer, both);
  Ways ways;
  if (levels == nullptr) return block.ac.energy + choose<false>(block, table, both, ways);
  const Cost cost = choose<true>(block, table, both, ways);
  std::memset(levels, 0, 64 * sizeof levels[0]);
  ways.costs[0] = 0;
  ways.k[0] = 0;
  const Cost end = table.lambda * table.bits.end_of_block;
  std::size_t i = 0;
  while (ways.costs[i] + (ways.k[i] < 63 ? end : 0) != cost) ++i;
  while (i > 0) {
    const int k = ways.k[i];
    const Choice choice(both, table, k);
    i = previous_of(i, ways, choice);
    const std::ptrdiff_t before = -kRow * ways.k[i];
    const int level = both.nearest[static_cast<std::size_t>(k)] - (choice.of(1, before) < choice.of(0, before) ? 1 : 0);
    levels[k] = static_cast<std::int16_t>(block.coefficients[static_cast<std::size_t>(k)] < 0 ? -level : level);
  }
  return block.ac.energy + cost;
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
