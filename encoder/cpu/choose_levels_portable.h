#pragma once

// choose_ac_levels() with what does not wait for anything taken out of the chain that does. First the two levels of every
// kept coefficient, many at a time; then for each of them the cheaper one behind any number of zeros, all numbers at a time.
// What is left is one addition and one comparison for each coefficient that it may follow.
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
  alignas(64) std::array<Cost, 64> distortions[2];  ///< what they change of the squared error

  /// What the code of coefficient k's nearest level costs, or of the one below, by the zeros before it.
  [[nodiscard, gnu::always_inline]] const Cost* code_costs(const LevelTable& table, std::size_t k, int below) const {
    // The size of a level, of 0 without a branch.
    const int size = 31 - std::countl_zero(static_cast<std::uint32_t>(2 * (nearest[k] - below) + 1));
    return table.level_costs[static_cast<std::size_t>(size)].data();
  }
};

/// Fills in the sixteens of coefficients that have a kept one.
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

/// The costs of a coefficient's cheaper level, by the zeros before it.
class CheaperLevel {
 public:
  /// Those that coefficient `k` may have: at most k - 1 zeros.
  [[gnu::always_inline]] void find(const TwoLevels& levels, const LevelTable& table, int k) {
    const auto place = static_cast<std::size_t>(k);
    const Cost* const costs_of_nearest = levels.code_costs(table, place, 0);
    const Cost* const costs_of_below = levels.code_costs(table, place, 1);
    const auto nearest = hn::Set(kInts, levels.distortions[0][place]);
    const auto below = hn::Set(kInts, levels.distortions[1][place]);
    const auto find_some = [&](std::size_t first) __attribute__((always_inline)) {
      for (std::size_t zeros = first; zeros < first + kSome; zeros += hn::Lanes(kInts)) {
        hn::Store(hn::Min(hn::Add(nearest, hn::Load(kInts, costs_of_nearest + zeros)),
                          hn::Add(below, hn::Load(kInts, costs_of_below + zeros))),
                  kInts, costs_ + zeros);
      }
    };
    find_some(0);
    if (k > static_cast<int>(kSome)) find_some(kSome);  // of foreman's coefficients one in ten
    behind_start_ = costs_ + k - 1;
  }
  /// Behind the coefficient that is `back` = -k.
  [[nodiscard, gnu::always_inline]] Cost behind(std::ptrdiff_t back) const { return behind_start_[back]; }

 private:
  static constexpr hn::CappedTag<Cost, 16> kInts{};
  static constexpr std::size_t kSome = 32;

  alignas(64) Cost costs_[2 * kSome];
  const Cost* behind_start_ = costs_;
};

/// A kept coefficient, its cheapest way known.
struct Node {
  Cost cost = kNoWay;       ///< less that of all zeros
  std::ptrdiff_t back = 0;  ///< -k; 0 is the start
};

/// What the way back through the kept coefficients is told from; number 0 is the start.
struct Ways {
  std::array<std::uint8_t, 64> k;
  std::array<std::uint8_t, 64> previous;
  int last = 0;  ///< of the cheapest way
};

/// Puts `other` in the place of `cost` where it is less, and its number too. Without a branch: which is less is unpredictable.
[[gnu::always_inline]] inline void take_cheaper(Cost other, int other_number, Cost& cost, int& number) {
  const bool is_less = other < cost;
  cost = is_less ? other : cost;
  number = is_less ? other_number : number;
  asm("" : "+r"(cost));
}

template <bool kKeepWays>
[[gnu::always_inline]] inline Cost choose(const TransformedBlock& block, const LevelTable& table, const TwoLevels& levels,
                                          Ways& ways) {
  Node older;  // the cheapest of those before the last three
  Node third;
  Node second;
  Node first{0, 0};  // the last: the start
  int older_number = 0;
  int number = 0;
  const Cost end = table.lambda * table.bits.end_of_block;
  Cost best = 0;  // but for the end
  int best_number = 0;
  CheaperLevel cheaper;
  for (std::uint64_t rest = block.ac.kept; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    cheaper.find(levels, table, k);
    int from = older_number;
    Cost cost = older.cost + cheaper.behind(older.back);
    asm("" : "+r"(cost));
    take_cheaper(third.cost + cheaper.behind(third.back), number - 2, cost, from);
    take_cheaper(second.cost + cheaper.behind(second.back), number - 1, cost, from);
    take_cheaper(first.cost + cheaper.behind(first.back), number, cost, from);
    const bool third_is_cheaper = third.cost <= older.cost;
    older.cost = third_is_cheaper ? third.cost : older.cost;
    older.back = third_is_cheaper ? third.back : older.back;
    if constexpr (kKeepWays) older_number = third_is_cheaper ? number - 2 : older_number;
    third = second;
    second = first;
    first = {cost, -k};
    ++number;
    if constexpr (kKeepWays) {
      ways.k[static_cast<std::size_t>(number)] = static_cast<std::uint8_t>(k);
      ways.previous[static_cast<std::size_t>(number)] = static_cast<std::uint8_t>(from);
    }
    take_cheaper(cost, number, best, best_number);
  }
  // Nothing ends behind coefficient 63. What is before it may be as cheap only with its end.
  const bool full = (block.ac.kept >> 63) != 0 && first.cost < best + end;
  ways.last = full ? number : best_number;
  return full ? first.cost : best + end;
}

/// choose_ac_levels()
[[maybe_unused]] Cost choose_levels(const TransformedBlock& block, const LevelTable& table, std::int16_t* levels) {
  TwoLevels both;
  find_levels(block, table.quantizer, both);
  Ways ways;
  if (levels == nullptr) return block.ac.energy + choose<false>(block, table, both, ways);
  const Cost cost = choose<true>(block, table, both, ways);
  std::memset(levels, 0, 64 * sizeof levels[0]);
  ways.k[0] = 0;
  for (std::size_t i = static_cast<std::size_t>(ways.last); i > 0;) {
    const std::size_t k = ways.k[i];
    i = ways.previous[i];
    const auto zeros = k - ways.k[i] - 1;
    const auto cost_of = [&](int below) { return both.distortions[below][k] + both.code_costs(table, k, below)[zeros]; };
    const int level = both.nearest[k] - (cost_of(1) < cost_of(0) ? 1 : 0);
    const int sign = block.coefficients[k] >> 15;
    levels[k] = static_cast<std::int16_t>((level ^ sign) - sign);
  }
  return block.ac.energy + cost;
}

}  // namespace portable
}  // namespace
}  // namespace c63::cpu
