#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <vector>

#include "decide/flat_tables.h"
#include "decide/rdoq.h"
#include "support/chosen_levels.h"
#include "support/generators.h"

namespace c63::test::ac_levels_test {
namespace {

using Levels = std::array<std::int16_t, 64>;

/// Coefficients like those of real blocks: all are small, except a few at random positions.
Levels random_coefficients(Random& random, int kept, int reach) {
  Levels coefficients{};
  for (std::int16_t& c : coefficients) c = static_cast<std::int16_t>(static_cast<int>(random.below(41)) - 20);
  for (int i = 0; i < kept; ++i) {
    const int value = static_cast<int>(random.below(static_cast<std::uint32_t>(reach)));
    coefficients[random.below(64)] = static_cast<std::int16_t>(random.below(2) == 0 ? value : -value);
  }
  return coefficients;
}

/// Returns D + λR of a block with these AC levels, computed from the definition.
std::int64_t cost_of(const Levels& coefficients, const Levels& levels, const Quantizer& quantizer, int plane, Cost lambda) {
  std::int64_t cost = 0;
  int last = 0;
  for (int k = 1; k < 64; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const std::int64_t shown = 64 * dequantize(levels[i], quantizer.steps[i]);
    cost += (coefficients[i] - shown) * (coefficients[i] - shown);
    if (levels[i] == 0) continue;
    cost += std::int64_t{lambda} * ac_bits(plane).level(k - last - 1, value_size(levels[i]));
    last = k;
  }
  return last < 63 ? cost + std::int64_t{lambda} * ac_bits(plane).end_of_block : cost;
}

QuantizationTable random_table(Random& random) {
  QuantizationTable table;
  for (std::uint8_t& step : table) step = static_cast<std::uint8_t>(1 + random.below(255));
  return table;
}

/// Tries every allowed combination of levels and returns the lowest cost. A coefficient that `summary` lists as kept
/// may have three levels: zero, the nearest level, and the level below that. All other coefficients have level zero.
std::int64_t least_cost(const Levels& coefficients, const AcSummary& summary, const Quantizer& quantizer, int plane,
                        Cost lambda) {
  std::vector<std::size_t> kept;
  for (std::size_t k = 1; k < 64; ++k) {
    if ((summary.kept >> k & 1) != 0) kept.push_back(k);
  }
  std::size_t ways = 1;
  for (std::size_t i = 0; i < kept.size(); ++i) ways *= 3;
  std::int64_t least = INT64_MAX;
  for (std::size_t way = 0; way < ways; ++way) {
    Levels levels{};
    std::size_t rest = way;
    for (const std::size_t k : kept) {
      const int magnitude = std::abs(coefficients[k]);
      const int nearest = nearest_kept_level(magnitude, quantizer, static_cast<int>(k));
      const int level = rest % 3 == 0 ? 0 : rest % 3 == 1 ? nearest : nearest - 1;
      levels[k] = static_cast<std::int16_t>(coefficients[k] < 0 ? -level : level);
      rest /= 3;
    }
    least = std::min(least, cost_of(coefficients, levels, quantizer, plane, lambda));
  }
  return least;
}

TEST(ChosenAcLevels, CostIsThatOfTheLevels) {
  Random random(11);
  for (int n = 0; n < 20000; ++n) {
    const int plane = static_cast<int>(random.below(3));
    const Quantizer quantizer(
        n % 2 == 0 ? flat_tables_of_step(static_cast<int>(4 + random.below(28)))[0] : random_table(random), plane);
    const Cost lambda = n % 7 == 0 ? kMaxLambda : static_cast<Cost>(1 + random.below(40000));
    const Levels c = random_coefficients(random, static_cast<int>(random.below(80)), n % 3 == 0 ? 4000 : 700);
    const AcSummary summary = summarize_ac(c.data(), quantizer);
    for (const auto choose : {choose_ac_masks, round_ac_masks}) {
      const AcChoice choice = choose(c.data(), summary, quantizer, ac_bits(plane), lambda);
      ASSERT_EQ(choice.cost, cost_of(c, chosen_levels(c, choice, quantizer), quantizer, plane, lambda)) << n;
      ASSERT_EQ(choice.lower & ~choice.coded, 0U);
      ASSERT_EQ(choice.coded & ~summary.kept, 0U);
    }
    ASSERT_LE(choose_ac_masks(c.data(), summary, quantizer, ac_bits(plane), lambda).cost, cost_of(c, {}, quantizer, plane, lambda));
  }
}

TEST(ChosenAcLevels, OfFewCoefficientsAreTheBest) {
  Random random(12);
  int tested = 0;
  for (int n = 0; tested < 3000; ++n) {
    const int plane = static_cast<int>(random.below(3));
    const Quantizer quantizer(flat_tables_of_step(static_cast<int>(6 + random.below(24)))[0], plane);
    const Cost lambda = static_cast<Cost>(1 + random.below(60000));
    Levels c{};
    for (unsigned i = 0; i < 1 + random.below(8); ++i) {
      c[random.below(64)] = static_cast<std::int16_t>(static_cast<int>(random.below(3000)) - 1500);
    }
    const AcSummary summary = summarize_ac(c.data(), quantizer);
    if (std::popcount(summary.kept) > 4)
      continue;  // the search looks back at kLookBack = 3 kept coefficients, so it is exact for up to 4
    ++tested;
    ASSERT_EQ(choose_ac_masks(c.data(), summary, quantizer, ac_bits(plane), lambda).cost,
              least_cost(c, summary, quantizer, plane, lambda));
  }
}

TEST(ChosenAcLevels, StayCodable) {
  for (const int plane : {0, 1}) {
    for (const int step : {1, 2, 3, 64, 255}) {
      const Quantizer quantizer(flat_tables_of_step(step)[0], plane);
      for (const Cost lambda : {1, 1000, kMaxLambda}) {
        Levels c{};
        for (std::size_t k = 0; k < 64; ++k) c[k] = static_cast<std::int16_t>(k % 2 == 0 ? 32704 : -32704);
        // One coefficient of this size already has the energy (sum of squares) of the largest possible block. So all
        // other AC coefficients are set to zero.
        for (std::size_t k = 2; k < 64; ++k) c[k] = 0;
        const AcSummary summary = summarize_ac(c.data(), quantizer);
        for (const auto choose : {choose_ac_masks, round_ac_masks}) {
          const AcChoice choice = choose(c.data(), summary, quantizer, ac_bits(plane), lambda);
          const Levels levels = chosen_levels(c, choice, quantizer);
          EXPECT_EQ(choice.cost, cost_of(c, levels, quantizer, plane, lambda));
          for (const std::int16_t level : levels) EXPECT_LE(std::abs(level), max_ac_magnitude(plane));
        }
      }
    }
  }
}

TEST(AcSummary, KeepsCoefficientsNearerToLevelOneThanToZero) {
  for (int step = 1; step <= 255; ++step) {
    const Quantizer quantizer(flat_tables_of_step(step)[0], 0);
    const int one = 64 * dequantize(1, step);
    for (const int magnitude : {one / 2 - 1, one / 2, one / 2 + 1}) {
      if (magnitude < 0) continue;
      Levels c{};
      c[17] = static_cast<std::int16_t>(-magnitude);
      const AcSummary summary = summarize_ac(c.data(), quantizer);
      EXPECT_EQ(summary.kept, 2 * magnitude > one ? std::uint64_t{1} << 17 : 0) << step;
      EXPECT_EQ(summary.energy, magnitude * magnitude);
    }
  }
}

}  // namespace
}  // namespace c63::test::ac_levels_test
