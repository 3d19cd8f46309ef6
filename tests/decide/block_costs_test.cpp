// Tests the DC levels of a block, the costs of its candidates, and the least cost of a row.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "decide/beam.h"
#include "decide/flat_tables.h"
#include "decide/repeat_frame.h"
#include "support/generators.h"

namespace c63::test::block_costs_test {
namespace {

TEST(DcLevels, AreTheNearestZeroAndItsNeighboursOnce) {
  for (const int step : {1, 2, 3, 8, 9, 12, 20, 32, 255}) {
    const Quantizer quantizer(flat_tables_of_step(step)[0], 0);
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

TransformedBlock random_block(Random& random, const Quantizer& quantizer) {
  TransformedBlock block{};
  for (std::int16_t& c : block.coefficients) c = static_cast<std::int16_t>(static_cast<int>(random.below(601)) - 300);
  block.residual_sum = static_cast<int>(random.below(4001)) - 2000;
  block.residual_squares = block.residual_sum * block.residual_sum / 64 + static_cast<int>(random.below(4000));
  block.ac = summarize_ac(block.coefficients.data(), quantizer);
  return block;
}

TEST(BlockCosts, AreTheCheaperOfCodedAndWithoutAc) {
  Random random(32);
  int without = 0;
  int with = 0;
  for (int n = 0; n < 3000; ++n) {
    const int step = static_cast<int>(4 + random.below(30));
    const Quantizer quantizer(flat_tables_of_step(step)[0], 0);
    const Cost lambda = static_cast<Cost>(1 + random.below(60000));
    const TransformedBlock block = random_block(random, quantizer);
    const DcLevels dc = dc_levels(block.coefficients[0], step, quantizer.reciprocals[0]);
    const auto ac = static_cast<Cost>(random.below(3000000));
    std::uint8_t without_ac = 0xFF;
    const auto costs = block_costs(block, dc, ac, quantizer, ac_bits(0), lambda, without_ac);
    for (std::size_t i = 0; i < kDcLevels; ++i) {
      const std::int64_t residual = flat_residual(dc.levels[i], step);
      const std::int64_t error = block.residual_squares - 2 * residual * block.residual_sum + 64 * residual * residual;
      const std::int64_t empty = 256 * error + std::int64_t{4} * lambda;
      const std::int64_t coded = std::int64_t{ac} + dc.errors[i];
      const bool is_empty = block.ac.kept == 0 || empty <= coded;
      EXPECT_EQ((without_ac >> i & 1) != 0, is_empty);
      EXPECT_EQ(costs[i], dc.valid[i] ? (is_empty ? empty : coded) : kInvalidCost);
      (is_empty ? without : with) += 1;
    }
  }
  EXPECT_GT(without, 1000);  // blocks with and without AC levels occurred
  EXPECT_GT(with, 1000);
}

TEST(LeastRowCosts, AreThoseOfFramesThatCodeNothing) {
  // An empty block without a vector has a flag (1 bit), a DC difference of zero and an end of block. That is seven bits
  // in luma and five in chroma. The least cost of a row leaves out the first DC difference of each plane.
  for (const auto& [width, height] : {std::pair{16, 16}, {64, 48}}) {
    const Geometry geometry(width, height);
    const std::int64_t blocks = geometry.mcus() * (4 * (1 + 2 + 4) + 2 * (1 + 2 + 2));
    EXPECT_EQ(least_row_costs(geometry, 10), 10 * (blocks - 3 * 2 * geometry.mcu_rows()));
  }
}

}  // namespace
}  // namespace c63::test::block_costs_test
