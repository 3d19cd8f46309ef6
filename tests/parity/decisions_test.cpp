// Tests the kernels that make decisions, for every instruction set. They must give exactly the results of the scalar
// kernels, which follow the definitions in decide/.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "contents.h"
#include "cpu/block_prediction.h"
#include "cpu/kernels.h"
#include "support/chosen_levels.h"
#include "support/generators.h"
#include "support/random_candidate.h"

namespace c63::cpu::decisions_test {
namespace {

using parity::Content;
using parity::kContents;
using parity::name_of;
using parity::Plane;
using test::chosen_levels;
using test::random_candidate;
using test::Random;

class DecisionParity : public parity::LevelTest {
 protected:
  void SetUp() override {
    LevelTest::SetUp();
    if (!IsSkipped()) kernels_ = &kernels(GetParam()).decisions();
  }

  const DecisionKernels& scalar_ = scalar_decision_kernels();
  const DecisionKernels* kernels_ = nullptr;
};

/// Tables with equal steps (1 to 255) and with random steps, for each plane and several λ.
std::vector<LevelTable> level_tables() {
  std::vector<LevelTable> tables;
  Random random(1);
  for (const int plane : {0, 1, 2}) {
    for (const Cost lambda : {1, 400, 17000, 90000, kMaxLambda}) {
      QuantizationTable table;
      for (const int step : {1, 7, 16, 40, 255}) {
        table.fill(static_cast<std::uint8_t>(step));
        tables.emplace_back(table, plane, lambda);
      }
      for (std::uint8_t& step : table) step = static_cast<std::uint8_t>(1 + random.below(255));
      tables.emplace_back(table, plane, lambda);
    }
  }
  return tables;
}

// ---- transform

void expect_same(const TransformedBlock& actual, const TransformedBlock& expected, const std::string& what) {
  ASSERT_EQ(actual.coefficients, expected.coefficients) << what;
  ASSERT_EQ(actual.residual_sum, expected.residual_sum) << what;
  ASSERT_EQ(actual.residual_squares, expected.residual_squares) << what;
  ASSERT_EQ(actual.ac.kept, expected.ac.kept) << what;
  ASSERT_EQ(actual.ac.energy, expected.ac.energy) << what;
}

TEST_P(DecisionParity, TransformOfAnyNumberOfBlocks) {
  Random random(2);
  const auto tables = level_tables();
  for (const Content a : kContents) {
    for (const Content b : kContents) {
      const Plane current(a, 40, 24, 43, 1);
      const Plane reference(b, 40, 24, 51, 2);
      for (const std::size_t count : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 11U, 32U}) {
        std::vector<BlockPair> pairs(count);
        for (BlockPair& pair : pairs) {
          const auto x = static_cast<int>(random.below(33));
          const auto y = static_cast<int>(random.below(17));
          pair = {&current.view().at(x, y), 43, {&reference.view().at(32 - x, 16 - y), 51}};
          if (random.below(3) == 0) pair.prediction = no_prediction();
        }
        const LevelTable& table = tables[random.below(static_cast<std::uint32_t>(tables.size()))];
        std::vector<TransformedBlock> expected(count + 4);
        std::vector<TransformedBlock> actual(count + 4);
        std::memset(static_cast<void*>(actual.data()), 0x5A, actual.size() * sizeof(TransformedBlock));
        const std::vector<TransformedBlock> poisoned = actual;
        scalar_.transform_blocks(pairs, table, expected.data());
        kernels_->transform_blocks(pairs, table, actual.data());
        for (std::size_t i = 0; i < count; ++i) {
          expect_same(actual[i], expected[i], std::string(name_of(a)) + " less " + name_of(b) + ", " + std::to_string(i));
        }
        for (std::size_t i = count; i < actual.size(); ++i) expect_same(actual[i], poisoned[i], "past the end");
      }
    }
  }
}

// ---- levels and costs

/// A random block. At most `kept` of its coefficients are large: they have magnitudes below `reach`. All others are
/// small.
TransformedBlock random_block(Random& random, const LevelTable& table, std::uint32_t kept, std::uint32_t reach) {
  TransformedBlock block{};
  for (std::int16_t& c : block.coefficients) c = static_cast<std::int16_t>(static_cast<int>(random.below(33)) - 16);
  for (std::uint32_t i = 0; i < kept; ++i) {
    const auto value = static_cast<int>(random.below(reach));
    block.coefficients[random.below(64)] = static_cast<std::int16_t>(random.below(2) == 0 ? value : -value);
  }
  block.residual_sum = static_cast<int>(random.below(32641)) - 16320;
  block.residual_squares = static_cast<int>(random.below(4161600));
  block.ac = summarize_ac(block.coefficients.data(), table.quantizer);
  return block;
}

/// A kind of random block: how many of its coefficients are large, and how large they are. In all kinds, the energy
/// (sum of squares) is no larger than in real blocks.
struct Shape {
  std::uint32_t kept;
  std::uint32_t reach;
};
constexpr Shape kShapes[] = {{0, 1}, {1, 32705}, {3, 4000}, {8, 900}, {20, 3000}, {60, 700}, {200, 3500}};

TEST_P(DecisionParity, ChosenLevels) {
  Random random(3);
  for (const LevelTable& table : level_tables()) {
    for (const Shape shape : kShapes) {
      // One call of the kernel takes `count` blocks. Every third block is of another random kind.
      for (const std::size_t count : {0U, 1U, 3U, 5U, 16U, 17U, 200U}) {
        std::vector<TransformedBlock> blocks;
        for (std::size_t i = 0; i < count; ++i) {
          const Shape some = i % 3 == 0 ? kShapes[random.below(std::size(kShapes))] : shape;
          blocks.push_back(random_block(random, table, some.kept, some.reach));
        }
        const AcChoice poison{0x5A5A5A5A, 0x5A5A, 0xA5A5};
        std::vector<AcChoice> actual(count + 1, poison);
        kernels_->choose_levels(blocks, table, actual.data());
        ASSERT_EQ(actual[count].cost, poison.cost);
        ASSERT_EQ(actual[count].coded, poison.coded);
        for (std::size_t i = 0; i < count; ++i) {
          const AcChoice expected =
              choose_ac_masks(blocks[i].coefficients.data(), blocks[i].ac, table.quantizer, table.bits, table.lambda);
          std::array<std::int16_t, 66> levels;
          levels.fill(0x5A5A);
          auto expected_levels = levels;
          std::ranges::copy(chosen_levels(blocks[i].coefficients, expected, table.quantizer), expected_levels.begin() + 1);
          expected_levels[1] = -1234;
          const std::string what = std::to_string(std::popcount(blocks[i].ac.kept)) + " kept, plane " + std::to_string(table.plane) +
                                   " lambda " + std::to_string(table.lambda) + ", block " + std::to_string(i);
          ASSERT_EQ(actual[i].cost, expected.cost) << what;
          kernels_->write_levels(blocks[i], table, actual[i], -1234, levels.data() + 1);
          ASSERT_EQ(levels, expected_levels) << what;
        }
      }
    }
  }
}

TEST_P(DecisionParity, CostsOfCandidates) {
  Random random(4);
  for (const LevelTable& table : level_tables()) {
    for (const int dc : {0, 1, -1, 40, -40, 500, -500, 7000, 32704, -32704}) {
      for (const Shape shape : kShapes) {
        TransformedBlock block = random_block(random, table, shape.kept, shape.reach);
        // In real blocks, the DC coefficient is twice the sum of the residuals (it is eight times their mean, with 4
        // fraction bits). With other sums, costs could exceed their limit. So the sum is set to half of `dc`.
        block.coefficients[0] = static_cast<std::int16_t>(dc);
        block.residual_sum = dc / 2;
        const int least = dc / 2 * (dc / 2) / 64;
        constexpr int kMost = 64 * 256 * 256;
        block.residual_squares = least + static_cast<int>(random.below(static_cast<std::uint32_t>(kMost - least)));
        const auto ac = static_cast<Cost>(random.below(std::uint32_t{1} << (8 + random.below(20))));
        BeamCandidate expected;
        expected.vector = 77;
        expected.vector_bits = 13;
        BeamCandidate actual = expected;
        actual.levels.fill(0x5A5A);
        actual.costs.fill(0x5A5A5A5A);
        ASSERT_EQ(kernels_->cost_candidate(block, ac, table, actual), scalar_.cost_candidate(block, ac, table, expected));
        ASSERT_EQ(actual.levels, expected.levels);
        ASSERT_EQ(actual.costs, expected.costs);
        ASSERT_EQ(actual.vector, 77);
        ASSERT_EQ(actual.vector_bits, 13);
      }
    }
  }
}

// ---- beam

TEST_P(DecisionParity, Beams) {
  Random random(5);
  for (int n = 0; n < 3000; ++n) {
    const auto width = static_cast<int>(1 + random.below(kMaxBeamWidth));
    const auto plane = static_cast<int>(random.below(3));
    const Cost lambda = n % 5 == 0 ? kMaxLambda : static_cast<Cost>(1 + random.below(std::uint32_t{1} << random.below(18)));
    const std::uint32_t reach = std::uint32_t{1} << random.below(24);
    const int level_reach = n % 3 == 0 ? 1023 : 20;
    Beam expected;
    Beam actual;
    for (int b = 0; b < 12; ++b) {
      std::array<BeamCandidate, kBeamCandidates> candidates;
      const auto count = static_cast<int>(1 + random.below(kBeamCandidates));
      for (int c = 0; c < count; ++c) candidates[static_cast<std::size_t>(c)] = random_candidate(random, reach, level_reach, 3, 64);
      const int row = plane == 0 ? b / 2 % 2 : 0;
      const BeamChoices choices = scalar_.extend_beam(expected, width, candidates.data(), count, row, plane, lambda);
      const BeamChoices same = kernels_->extend_beam(actual, width, candidates.data(), count, row, plane, lambda);
      ASSERT_EQ(actual.base, expected.base) << n << " " << b;
      for (std::size_t i = 0; i < kMaxBeamWidth; ++i) {
        ASSERT_EQ(actual.states[i].cost, expected.states[i].cost) << n << " block " << b << " state " << i;
        ASSERT_EQ(actual.states[i].dc, expected.states[i].dc) << n << " block " << b << " state " << i;
        ASSERT_EQ(actual.states[i].left, expected.states[i].left) << n << " block " << b << " state " << i;
        ASSERT_EQ(same[i].lane, choices[i].lane) << n << " block " << b << " state " << i;
        ASSERT_EQ(same[i].parent, choices[i].parent) << n << " block " << b << " state " << i;
      }
    }
  }
}

TEST_P(DecisionParity, NarrowBeams) {
  Random random(7);
  const auto tables = level_tables();
  for (int n = 0; n < 1500; ++n) {
    const LevelTable& table = tables[random.below(static_cast<std::uint32_t>(tables.size()))];
    std::vector<TransformedBlock> transformed;
    for (int i = 0; i < 24; ++i) {
      TransformedBlock& block = transformed.emplace_back(random_block(random, table, random.below(4), 900));
      const std::uint32_t reach = n % 3 == 0 ? 32705 : n % 3 == 1 ? 3000 : 300;
      const auto dc = static_cast<int>(random.below(reach)) * (random.below(2) == 0 ? 1 : -1);
      block.coefficients[0] = static_cast<std::int16_t>(dc);
      block.residual_sum = dc / 2;
      block.residual_squares = dc / 2 * (dc / 2) / 64 + static_cast<int>(random.below(n % 2 == 0 ? 3000 : 90000));
    }
    Beam expected;
    Beam actual;
    for (const std::size_t count : {1U, 7U, 0U, 12U}) {  // the row in several calls
      std::vector<NarrowCandidates> blocks(count);
      for (std::size_t i = 0; i < count; ++i) {
        NarrowCandidates& block = blocks[i];
        block.count = static_cast<int>(1 + random.below(2));
        block.row = table.plane == 0 ? static_cast<int>(i / 2 % 2) : 0;
        for (std::size_t c = 0; c < 2; ++c) {
          const std::size_t from = block.count == 2 ? c : 0;
          const BeamCandidate candidate = random_candidate(random, 1, 1);
          block.blocks[c] = &transformed[2 * i + from];
          block.ac[c] = from == c ? static_cast<Cost>(random.below(std::uint32_t{1} << (8 + random.below(20)))) : block.ac[0];
          block.vectors[c] = from == c ? candidate.vector : block.vectors[0];
          block.vector_bits[c] = from == c ? candidate.vector_bits : block.vector_bits[0];
        }
      }
      std::vector<BlockChoice> choices(count + 1, {77, true, 7777});
      auto same = choices;
      scalar_.extend_narrow(expected, blocks, table, choices.data());
      kernels_->extend_narrow(actual, blocks, table, same.data());
      for (std::size_t i = 0; i <= count; ++i) {
        ASSERT_EQ(same[i].lane, choices[i].lane) << n << " block " << i << " of " << count;
        ASSERT_EQ(same[i].without_ac, choices[i].without_ac) << n << " block " << i;
        ASSERT_EQ(same[i].level, choices[i].level) << n << " block " << i;
      }
      ASSERT_EQ(actual.base, expected.base) << n;
      ASSERT_EQ(actual.states[0].cost, expected.states[0].cost);
      ASSERT_EQ(actual.states[0].dc, expected.states[0].dc);
      ASSERT_EQ(actual.states[0].left, expected.states[0].left);
      ASSERT_EQ(actual.started, expected.started);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DecisionParity, parity::kVectorLevels, parity::name_of_level);

}  // namespace
}  // namespace c63::cpu::decisions_test
