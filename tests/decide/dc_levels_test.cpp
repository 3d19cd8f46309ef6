#include "decide/block_costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "support/flat_table.h"
#include "support/generators.h"

namespace c63::test::dc_levels_test {
namespace {

TEST(DcLevels, AreTheNearestZeroAndItsNeighboursOnce) {
  for (const int step : {1, 2, 3, 8, 9, 12, 20, 32, 255}) {
    const Quantizer quantizer(flat(step), 0);
    for (int coefficient = -32704; coefficient <= 32704; coefficient += 13) {
      const DcLevels dc = dc_levels(coefficient, step, quantizer.reciprocals[0]);
      std::vector<int> valid;
      for (std::size_t i = 0; i < kDcLevels; ++i) {
        const std::int64_t error = coefficient - 64 * dequantize(dc.levels[i], step);
        if (dc.valid[i]) {
          EXPECT_EQ(dc.errors[i], error * error);
          valid.push_back(dc.levels[i]);
        }
        EXPECT_LE(std::abs(dc.levels[i]), kMaxDcMagnitude);
      }
      std::ranges::sort(valid);
      EXPECT_EQ(std::ranges::adjacent_find(valid), valid.end());
      EXPECT_TRUE(std::ranges::binary_search(valid, 0));
      const int nearest = std::min(nearest_level(std::abs(coefficient), quantizer.reciprocals[0]), kMaxDcMagnitude - 1);
      for (const int level : {nearest - 1, nearest, nearest + 1}) {
        if (level < 0) continue;
        EXPECT_TRUE(std::ranges::binary_search(valid, coefficient < 0 ? -level : level)) << coefficient << " " << step;
      }
    }
  }
}

TEST(FlatResidual, IsWhatTheInverseTransformGives) {
  for (const int step : {1, 2, 3, 7, 8, 10, 11, 12, 13, 28, 47, 255}) {
    for (int level = -2047; level <= 2047; ++level) {
      if (std::abs(level * step) > 2 * 2044) continue;  // twice the largest DC coefficient of a block
      float coefficients[64] = {};
      coefficients[0] = static_cast<float>(dequantize(level, step));
      std::int16_t residual[64];
      inverse_dct(coefficients, residual, kDctCosines);
      EXPECT_EQ(std::ranges::count(residual, residual[0]), 64);
      ASSERT_EQ(flat_residual(level, step), residual[0]) << level << " · " << step;
    }
  }
}

TEST(FlatError, IsTheSquaredErrorOfTheSamples) {
  Random random(3);
  for (int n = 0; n < 1000; ++n) {
    const int flat_value = static_cast<int>(random.below(511)) - 255;
    const int reach = n % 2 == 0 ? 255 : 9;
    int sum = 0;
    int squares = 0;
    std::int64_t expected = 0;
    for (int i = 0; i < 64; ++i) {
      const int d = static_cast<int>(random.below(static_cast<std::uint32_t>(2 * reach + 1))) - reach;
      sum += d;
      squares += d * d;
      expected += (d - flat_value) * (d - flat_value);
    }
    if (expected >= 1 << 22) continue;  // such levels are never tried
    EXPECT_EQ(flat_error(sum, squares, flat_value), expected * 256);
  }
  EXPECT_EQ(flat_error(-64 * 255, 64 * 255 * 255, 0), 64 * 255 * 255 * 256);
}

}  // namespace
}  // namespace c63::test::dc_levels_test
