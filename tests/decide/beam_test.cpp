#include "decide/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "support/generators.h"
#include "support/random_candidate.h"

namespace c63::test::beam_test {
namespace {

/// The blocks of one plane in an MCU row, in coding order, with the candidates of each block.
struct Row {
  int plane = 0;
  Cost lambda = 0;
  std::vector<std::vector<BeamCandidate>> blocks;

  [[nodiscard]] int block_row(std::size_t block) const { return plane == 0 ? static_cast<int>(block / 2 % 2) : 0; }
};

Row random_row(Random& random, int plane, std::size_t blocks, std::uint32_t most_candidates, Cost reach) {
  Row row{plane, static_cast<Cost>(1 + random.below(20000)), {}};
  for (std::size_t b = 0; b < blocks; ++b) {
    std::vector<BeamCandidate> candidates(1 + random.below(most_candidates));
    for (BeamCandidate& c : candidates) c = random_candidate(random, static_cast<std::uint32_t>(reach));
    row.blocks.push_back(candidates);
  }
  return row;
}

/// Returns the cost of a row if its blocks use these lanes. A lane is one candidate of a block with one of its DC
/// levels.
std::int64_t cost_of(const Row& row, const std::vector<int>& lanes) {
  std::int64_t cost = 0;
  std::array<VectorNumber, 2> left = {kNoVector, kNoVector};
  int dc = 0;
  for (std::size_t b = 0; b < lanes.size(); ++b) {
    const BeamCandidate& c = row.blocks[b][static_cast<std::size_t>(lanes[b] / kDcLevels)];
    const auto i = static_cast<std::size_t>(lanes[b] % kDcLevels);
    VectorNumber& neighbour = left[static_cast<std::size_t>(row.block_row(b))];
    const bool reuse = c.vector != kNoVector && c.vector == neighbour;
    int bits = reuse ? 2 : c.vector_bits;
    if (b > 0) bits += dc_bits(c.levels[i] - dc, row.plane);
    dc = c.levels[i];
    neighbour = c.vector;
    cost += c.costs[i] + std::int64_t{row.lambda} * bits;
  }
  return cost;
}

struct Chosen {
  std::vector<int> lanes;
  std::int64_t base = 0;
};

Chosen run_beam(const Row& row, int width) {
  Beam beam;
  std::vector<BeamChoices> choices;
  for (std::size_t b = 0; b < row.blocks.size(); ++b) {
    const auto& candidates = row.blocks[b];
    choices.push_back(extend_beam(beam, width, candidates.data(), static_cast<int>(candidates.size()), row.block_row(b),
                                  row.plane, row.lambda));
  }
  Chosen chosen{std::vector<int>(row.blocks.size()), beam.base};
  std::size_t state = 0;
  for (std::size_t b = row.blocks.size(); b-- > 0;) {
    chosen.lanes[b] = choices[b][state].lane;
    state = choices[b][state].parent;
  }
  return chosen;
}

std::int64_t least_cost(const Row& row) {
  std::vector<int> lanes(row.blocks.size());
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const auto lanes_of = [&](std::size_t b) { return static_cast<int>(row.blocks[b].size()) * kDcLevels; };
  for (;;) {
    bool valid = true;
    for (std::size_t b = 0; b < lanes.size(); ++b) {
      valid = valid && row.blocks[b][static_cast<std::size_t>(lanes[b] / kDcLevels)]
                               .costs[static_cast<std::size_t>(lanes[b] % kDcLevels)] != kInvalidCost;
    }
    if (valid) least = std::min(least, cost_of(row, lanes));
    std::size_t b = 0;
    while (b < lanes.size() && ++lanes[b] == lanes_of(b)) lanes[b++] = 0;
    if (b == lanes.size()) return least;
  }
}

TEST(Beam, CountsTheCostOfItsWay) {
  Random random(21);
  for (int n = 0; n < 3000; ++n) {
    const Row row = random_row(random, static_cast<int>(random.below(3)), 4 * (1 + random.below(6)), 8, 3000000);
    for (const int width : {1, 2, 4, 8}) {
      const Chosen chosen = run_beam(row, width);
      ASSERT_EQ(chosen.base, cost_of(row, chosen.lanes)) << n << " width " << width;
    }
  }
}

TEST(Beam, OfOneCandidateIsExact) {  // only the four DC levels differ, and a beam of four keeps them all
  Random random(22);
  for (int n = 0; n < 300; ++n) {
    const Row row = random_row(random, static_cast<int>(random.below(3)), 5, 1, 300000);
    ASSERT_EQ(run_beam(row, 4).base, least_cost(row));
  }
}

TEST(Beam, ExtremeCostsDoNotOverflow) {
  Random random(24);
  for (int n = 0; n < 300; ++n) {
    Row row = random_row(random, 0, 40, 8, 1 << 30);
    row.lambda = kMaxLambda;
    for (auto& block : row.blocks) {
      for (BeamCandidate& c : block) {
        for (std::int16_t& level : c.levels) level = static_cast<std::int16_t>(random.below(2) == 0 ? 2046 : -2046);
      }
    }
    Beam beam;
    for (std::size_t b = 0; b < row.blocks.size(); ++b) {
      const auto& candidates = row.blocks[b];
      static_cast<void>(extend_beam(beam, 8, candidates.data(), static_cast<int>(candidates.size()), row.block_row(b), 0,
                                    row.lambda));
      EXPECT_EQ(beam.states[0].cost, 0);
      for (std::size_t i = 1; i < kMaxBeamWidth; ++i) EXPECT_GE(beam.states[i].cost, beam.states[i - 1].cost);
    }
  }
}

TEST(Beam, TakesTheFirstOfEqualLanesAndParents) {
  BeamCandidate c;
  c.vector_bits = 1;
  c.levels = {3, 3, 3, 3};
  c.costs = {50, 7, 7, 7};
  Beam beam;
  const BeamChoices first = extend_beam(beam, 3, &c, 1, 0, 0, 1);
  EXPECT_EQ(first[0].lane, 1);
  EXPECT_EQ(first[1].lane, 2);
  EXPECT_EQ(first[2].lane, 3);
  const BeamChoices second = extend_beam(beam, 3, &c, 1, 0, 0, 1);
  for (const std::size_t i : {0U, 1U, 2U}) EXPECT_EQ(second[i].parent, 0);
}

TEST(VectorNumbers, StandForVectors) {
  for (int x = -127; x <= 127; ++x) {
    for (int y = -127; y <= 127; ++y) {
      const MotionVector v{static_cast<std::int8_t>(x), static_cast<std::int8_t>(y)};
      ASSERT_EQ(vector_of(vector_number(v)), v);
      ASSERT_GE(vector_number(v), 0);
    }
  }
}

}  // namespace
}  // namespace c63::test::beam_test
