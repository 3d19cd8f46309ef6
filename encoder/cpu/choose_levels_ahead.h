#pragma once

// choose_ac_levels() with what does not wait for anything taken out of the loop that does: a coefficient's two levels are
// compared for each coefficient that it may follow before the costs of those are known. Then each has one addition and one
// comparison to wait for. Plain code, for every instruction set; everything is local to the file that includes it, as in
// kernels_portable.h.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "cpu/decision_kernels.h"

namespace c63::cpu {
namespace {
namespace ahead {

/// More than any way to code a block costs; two levels' costs more still fit.
constexpr Cost kNoWay = 1 << 30;

/// A kept coefficient, its cheapest way known: less than all zeros up to it, by the squares that levels save.
struct Node {
  Cost cost = kNoWay;
  int k = 0;
};

/// A coefficient's two levels: what they change of the squared error, and the sizes of their codes.
struct Levels {
  Cost distortion[2];
  unsigned size[2];
};

[[gnu::always_inline]] inline Levels levels_of(int magnitude, int nearest, int step) {
  Levels levels;
  for (int i = 0; i < 2; ++i) {
    const int level = nearest - i;
    const int shown = reconstruct_level(level, step);
    levels.distortion[i] = level == 0 ? kNoWay : shown * (shown - 2 * magnitude);
    levels.size[i] = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(level)));
  }
  return levels;
}

/// The cheaper of the two levels behind `zeros` zeros.
[[gnu::always_inline]] inline Cost cheaper_level(const LevelTable& table, const Levels& levels, int zeros) {
  const auto& costs = table.level_costs[static_cast<std::size_t>(zeros)];
  return std::min(levels.distortion[0] + costs[levels.size[0]], levels.distortion[1] + costs[levels.size[1]]);
}

/// What the way back through the kept coefficients is told from.
struct Ways {
  Levels levels[64];
  std::uint8_t k[64];
  std::uint8_t previous[64];  ///< the number of the kept coefficient before, 0 being the start
};

template <bool kKeepWays>
[[gnu::always_inline]] inline Cost choose(const TransformedBlock& block, const LevelTable& table, Ways& ways, int& last) {
  const Quantizer& quantizer = table.quantizer;
  Node older;  // the cheapest of those before the last three
  Node third;
  Node second;
  Node first{0, 0};  // the last: the start
  int older_number = 0;
  int number = 0;
  const Cost end = table.lambda * table.bits.end_of_block;
  Cost best = end;
  for (std::uint64_t rest = block.ac.kept; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    const int magnitude = std::abs(int{block.coefficients[static_cast<std::size_t>(k)]});
    const int nearest = nearest_kept_level(magnitude, quantizer, k);
    const Levels levels = levels_of(magnitude, nearest, quantizer.steps[static_cast<std::size_t>(k)]);
    const Cost behind_older = older.cost + cheaper_level(table, levels, k - older.k - 1);
    const Cost behind_third = third.cost + cheaper_level(table, levels, k - third.k - 1);
    const Cost behind_second = second.cost + cheaper_level(table, levels, k - second.k - 1);
    const Cost behind_first = first.cost + cheaper_level(table, levels, k - first.k - 1);
    const Cost cost = std::min(std::min(std::min(behind_older, behind_third), behind_second), behind_first);
    ++number;
    if constexpr (kKeepWays) {
      const int previous = cost == behind_older    ? older_number
                           : cost == behind_third  ? number - 3
                           : cost == behind_second ? number - 2
                                                   : number - 1;
      ways.levels[number] = levels;
      ways.k[number] = static_cast<std::uint8_t>(k);
      ways.previous[number] = static_cast<std::uint8_t>(previous);
    }
    const bool third_is_cheaper = third.cost <= older.cost;
    older = third_is_cheaper ? third : older;
    if constexpr (kKeepWays) older_number = third_is_cheaper ? number - 3 : older_number;
    third = second;
    second = first;
    first = {cost, k};
    const Cost whole = k < 63 ? cost + end : cost;
    if constexpr (kKeepWays) last = whole < best ? number : last;
    best = std::min(best, whole);
  }
  return block.ac.energy + best;
}

/// choose_ac_levels()
[[maybe_unused]] Cost choose_levels(const TransformedBlock& block, const LevelTable& table, std::int16_t* levels) {
  Ways ways;
  int last = 0;
  if (levels == nullptr) return choose<false>(block, table, ways, last);
  const Cost cost = choose<true>(block, table, ways, last);
  std::fill_n(levels, 64, std::int16_t{0});
  ways.k[0] = 0;
  for (int i = last; i > 0; i = ways.previous[i]) {
    const int k = ways.k[i];
    const Levels& both = ways.levels[i];
    const auto& costs = table.level_costs[static_cast<std::size_t>(k - ways.k[ways.previous[i]] - 1)];
    const bool lower = both.distortion[1] + costs[both.size[1]] < both.distortion[0] + costs[both.size[0]];
    const int coefficient = block.coefficients[static_cast<std::size_t>(k)];
    const int level = nearest_kept_level(std::abs(coefficient), table.quantizer, k) - (lower ? 1 : 0);
    levels[k] = static_cast<std::int16_t>(coefficient < 0 ? -level : level);
  }
  return cost;
}

}  // namespace ahead
}  // namespace
}  // namespace c63::cpu
