#include "decide/greedy_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/generators.h"
#include "support/random_candidate.h"

namespace c63::test::greedy_row_test {
namespace {

using Candidates = std::vector<BeamCandidate>;

Candidates random_candidates(Random& random, Cost reach, bool few_vectors) {
  Candidates candidates(1 + random.below(2));
  for (BeamCandidate& c : candidates) c = random_candidate(random, static_cast<std::uint32_t>(reach), 20, few_vectors ? 2 : 60);
  return candidates;
}

/// A block in the form that extend_greedy_row() takes, whose costs are relative to the block's smallest cost. `least`
/// is that smallest cost.
struct PreparedBlock {
  NarrowBlock block;
  Cost least = kInvalidCost;
};

PreparedBlock prepare(const Candidates& candidates, Cost lambda, Random& random) {
  PreparedBlock prepared;
  for (const BeamCandidate& c : candidates) {
    for (const Cost cost : c.costs) prepared.least = std::min(prepared.least, cost);
  }
  for (int slot = 0; slot < 2; ++slot) {
    BeamCandidate c;
    c.vector = static_cast<VectorNumber>(random.below(9));  // a random vector, for candidates that do not exist
    c.costs = {kInvalidCost, kInvalidCost, kInvalidCost, kInvalidCost};
    if (static_cast<std::size_t>(slot) < candidates.size()) c = candidates[static_cast<std::size_t>(slot)];
    prepared.block.set_candidate(slot, c.costs, prepared.least, c.vector, c.vector_bits, lambda);
    std::ranges::copy(c.levels, prepared.block.levels.begin() + slot * kDcLevels);
  }
  return prepared;
}

struct Chosen {
  std::vector<int> lanes;
  std::int64_t cost = 0;
  friend bool operator==(const Chosen&, const Chosen&) = default;
};

Chosen by_beam(const std::vector<Candidates>& row, int plane, Cost lambda) {
  Beam beam;
  Chosen chosen;
  for (std::size_t b = 0; b < row.size(); ++b) {
    const int block_row = plane == 0 ? static_cast<int>(b / 2 % 2) : 0;
    const BeamChoices choices =
        extend_beam(beam, 1, row[b].data(), static_cast<int>(row[b].size()), block_row, plane, lambda);
    chosen.lanes.push_back(choices[0].lane);
  }
  chosen.cost = beam.base;
  return chosen;
}

/// Chooses the lanes of a row as a GPU does (decide/greedy_row.h explains the words). First computes the lanes of every
/// unit, for each possible joint of the previous unit. Then follows the row and takes, for each unit, the lanes that
/// belong to the joint that was reached.
template <int kBlocks>
Chosen by_units(const std::vector<PreparedBlock>& row, int plane, Cost lambda) {
  using Unit = RowUnit<kBlocks>;
  struct Way {
    unsigned lanes = 0;
    std::int64_t cost = 0;
  };
  DcCosts dc_costs;
  for (int size = 0; size < DcCosts::kSizes; ++size) dc_costs.set(size, plane, lambda);
  std::vector<Way> ways(row.size() / kBlocks * Unit::kJoints);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::size_t first = i / Unit::kJoints * kBlocks;
    const auto joint = static_cast<unsigned>(i % Unit::kJoints);
    GreedyRow state;
    if (first > 0) {
      const NarrowBlock& before = row[first - 1].block;
      const auto lane = static_cast<std::size_t>(Unit::last_lane(joint));
      state.started = true;
      state.dc = before.levels[lane];
      state.left[kBlocks == 4 ? 1 : 0] = before.vectors[lane / kDcLevels];
      if (kBlocks == 4) state.left[0] = row[first - 3].block.vectors[static_cast<std::size_t>(Unit::upper_candidate(joint))];
    }
    for (int b = 0; b < kBlocks; ++b) {
      const PreparedBlock& prepared = row[first + static_cast<std::size_t>(b)];
      const LaneCost choice = extend_greedy_row(state, prepared.block, Unit::block_row(b), dc_costs, lambda);
      ways[i].lanes |= choice % NarrowBlock::kLanes << (kNarrowLaneBits * b);
      ways[i].cost += std::int64_t{prepared.least} + (choice >> kNarrowLaneBits);
    }
  }
  Chosen chosen;
  unsigned joint = 0;
  for (std::size_t unit = 0; unit < row.size() / kBlocks; ++unit) {
    const Way& way = ways[unit * Unit::kJoints + joint];
    for (int b = 0; b < kBlocks; ++b) chosen.lanes.push_back(Unit::lane(way.lanes, b));
    chosen.cost += way.cost;
    joint = Unit::joint(way.lanes);
    EXPECT_LT(joint, static_cast<unsigned>(Unit::kJoints));
  }
  return chosen;
}

TEST(GreedyRow, UnitsJoinedAreTheBeamOfOneState) {
  Random random(31);
  int reused = 0;
  for (int n = 0; n < 3000; ++n) {
    const int plane = static_cast<int>(random.below(3));
    const Cost lambda = n % 7 == 0 ? kMaxLambda : static_cast<Cost>(1 + random.below(20000));
    // The largest cost of a candidate: above the beam's limit, so small that many costs are equal, or normal.
    const Cost reach = n % 5 == 0 ? 1 << 30 : n % 5 == 1 ? 40 : 300000;
    std::vector<Candidates> row;
    std::vector<PreparedBlock> narrow_row;
    for (std::uint32_t i = 4 * (1 + random.below(8)); i > 0; --i) {
      row.push_back(random_candidates(random, reach, n % 2 == 0));
      narrow_row.push_back(prepare(row.back(), lambda, random));
    }
    const Chosen expected = by_beam(row, plane, lambda);
    ASSERT_EQ(plane == 0 ? by_units<4>(narrow_row, plane, lambda) : by_units<1>(narrow_row, plane, lambda), expected) << n;
    for (std::size_t b = 4; b < row.size(); ++b) {
      const auto vector_of_block = [&](std::size_t i) { return row[i][static_cast<std::size_t>(expected.lanes[i] / kDcLevels)].vector; };
      // Counts how often a left Y block of an MCU reuses the vector of its left neighbour, which is three blocks
      // earlier in coding order. Other blocks are counted, too, although their left neighbour is elsewhere. So the
      // count is only rough.
      reused += vector_of_block(b) != kNoVector && vector_of_block(b) == vector_of_block(b - 3);
    }
  }
  EXPECT_GT(reused, 1000) << "vectors across units are what joints are for";
}

}  // namespace
}  // namespace c63::test::greedy_row_test
