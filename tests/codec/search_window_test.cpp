#include "codec/search_window.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace c63::test {
namespace {

TEST(SearchWindow, IsTheCourseEncodersForEveryBlockOfEverySmallPlane) {
  for (int width = 8; width <= 64; width += 8) {
    for (int height = 8; height <= 64; height += 8) {
      for (const int range : {1, 5, 8, 16, 127}) {
        for (int row = 0; row < height / 8; ++row) {
          for (int column = 0; column < width / 8; ++column) {
            int left = column * 8 - range;
            int top = row * 8 - range;
            int right = column * 8 + range;
            int bottom = row * 8 + range;
            if (left < 0) left = 0;
            if (top < 0) top = 0;
            if (right > width - 8) right = width - 8;
            if (bottom > height - 8) bottom = height - 8;
            const SearchWindow w = search_window(column, row, width, height, range);
            ASSERT_EQ(w.left, left);
            ASSERT_EQ(w.top, top);
            ASSERT_EQ(w.right, right);
            ASSERT_EQ(w.bottom, bottom);
            for (int y = w.top; y < w.bottom; ++y) {
              for (int x = w.left; x < w.right; ++x) {
                ASSERT_TRUE(vector_is_legal(column, row, width, height, x - column * 8, y - row * 8));
                ASSERT_LE(std::abs(x - column * 8), 127);
              }
            }
          }
        }
      }
    }
  }
}

TEST(SearchRange, OfChromaIsHalfRoundedDown) {
  EXPECT_EQ(plane_search_range(16, 0), 16);
  EXPECT_EQ(plane_search_range(16, 1), 8);
  EXPECT_EQ(plane_search_range(127, 2), 63);
  EXPECT_EQ(plane_search_range(1, 1), 0);
}

TEST(CandidateKey, OrdersBySadThenByRasterNumber) {
  EXPECT_LT(candidate_key(5, 65535), candidate_key(6, 0));
  EXPECT_LT(candidate_key(5, 3), candidate_key(5, 4));
  EXPECT_LT(candidate_key(64 * 255, 65535), UINT32_MAX);
  // The largest window has 254 x 254 candidates, so a raster number fits in 16 bits.
  EXPECT_LT(254 * 254, 65536);
}

TEST(VectorIsLegal, AtTheEdges) {
  EXPECT_TRUE(vector_is_legal(0, 0, 16, 16, 8, 8));
  EXPECT_FALSE(vector_is_legal(0, 0, 16, 16, 9, 0));
  EXPECT_FALSE(vector_is_legal(0, 0, 16, 16, 0, 9));
  EXPECT_FALSE(vector_is_legal(0, 0, 16, 16, -1, 0));
  EXPECT_TRUE(vector_is_legal(1, 1, 16, 16, -8, -8));
  EXPECT_FALSE(vector_is_legal(1, 1, 16, 16, 0, -9));
}

}  // namespace
}  // namespace c63::test
