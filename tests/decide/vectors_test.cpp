// Tests the list of candidate vectors of a block, and the costs of vectors in a search.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "decide/vectors.h"

namespace c63::test::vectors_test {
namespace {

std::vector<MotionVector> listed(const PlaneGeometry& g, int column, int row, const std::vector<MotionVector>& chosen,
                                 const std::vector<MotionVector>& found) {
  const CandidateVectors vectors =
      candidate_vectors(g, column, row, chosen.data(), found.data(), static_cast<int>(found.size()));
  std::vector<MotionVector> list;
  for (std::size_t i = 0; i < vectors.count(); ++i) list.push_back(vectors[i]);
  return list;
}

TEST(CandidateVectors, AreThoseFoundAndThoseAroundInOrder) {
  const PlaneGeometry g = Geometry(64, 48).plane(0);
  std::vector<MotionVector> chosen(static_cast<std::size_t>(g.blocks()));
  chosen[2 * 8 + 2] = {1, 1};
  chosen[2 * 8 + 4] = {2, 2};
  chosen[1 * 8 + 3] = {3, 3};
  chosen[3 * 8 + 3] = {4, 4};
  using List = std::vector<MotionVector>;
  EXPECT_EQ(listed(g, 3, 2, chosen, {{5, 5}, {6, 6}, {7, 7}}),
            (List{{5, 5}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {0, 0}, {6, 6}}));  // the list has room for seven
  EXPECT_EQ(listed(g, 3, 2, chosen, {{2, 2}, {1, 1}, {7, 7}}), (List{{2, 2}, {1, 1}, {3, 3}, {4, 4}, {0, 0}, {7, 7}}));
}

TEST(CandidateVectors, StayInThePlane) {
  const PlaneGeometry g = Geometry(32, 32).plane(0);
  const std::vector<MotionVector> chosen(static_cast<std::size_t>(g.blocks()), MotionVector{-1, 1});
  using List = std::vector<MotionVector>;
  EXPECT_EQ(listed(g, 0, 0, chosen, {{1, 1}}), (List{{1, 1}, {0, 0}}));
  EXPECT_EQ(listed(g, 1, 1, chosen, {{-1, 1}}), (List{{-1, 1}, {0, 0}}));
  EXPECT_EQ(listed(g, 3, 3, chosen, {{0, -1}}), (List{{0, -1}, {0, 0}}));
}

TEST(WholeSearchWindow, HasTheZeroVectorAndReachesTheBorders) {
  const int width = 40;
  const int height = 24;
  for (const int range : {0, 1, 7, 16, 127}) {
    for (int row = 0; row < height / 8; ++row) {
      for (int column = 0; column < width / 8; ++column) {
        const SearchWindow window = whole_search_window(column, row, width, height, range);
        const int x = column * 8;
        const int y = row * 8;
        EXPECT_EQ(window.left, std::max(0, x - range));
        EXPECT_EQ(window.top, std::max(0, y - range));
        EXPECT_EQ(window.right, std::min(x + std::max(range, 1), width - 7));
        EXPECT_EQ(window.bottom, std::min(y + std::max(range, 1), height - 7));
      }
    }
  }
}

TEST(VectorCosts, AreTheBitsInUnitsOfSad) {
  for (const std::int32_t per_bit : {0, 1, 255, 256, 1000, sad_per_bit(kMaxLambda)}) {
    const VectorCosts costs(per_bit);
    for (int x = -127; x <= 127; ++x) {
      const double exact = per_bit / 256.0 * vector_component_bits(x);
      EXPECT_NEAR(costs.of(x, 0), exact + costs.of(0, 0) / 2.0, 0.5);
      EXPECT_EQ(costs.of(x, 5), costs.of(x, 0) - costs.of(0, 0) + costs.of(0, 5));
    }
  }
}

TEST(VectorCosts, WithAnySadFitIn16Bits) {
  EXPECT_LE(64 * 255 + VectorCosts(sad_per_bit(kMaxLambda)).of(-127, 127), 0xFFFEU);
}

TEST(SadPerBit, GrowsWithTheRootOfLambda) {
  EXPECT_EQ(sad_per_bit(0), 0);
  EXPECT_EQ(sad_per_bit(100 << 8), 7 * 256);
  EXPECT_EQ(sad_per_bit(25 << 8), static_cast<int>(std::lround(3.5 * 256)));
}

}  // namespace
}  // namespace c63::test::vectors_test
