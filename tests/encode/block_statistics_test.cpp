#include "encode/block_statistics.h"

#include <gtest/gtest.h>

#include "c63/encoder.h"
#include "support/generators.h"
#include "support/sources.h"

namespace c63::block_statistics_test {
namespace {

TEST(BlockStatisticsTest, KindsOfAGreyPicture) {
  // In a grey picture, the first block of each plane has a DC level. The other blocks have the same level, so their DC
  // difference is zero. No block has AC levels.
  const test::Bytes grey = test::generate(32, 16, 2, [](auto, auto, auto, auto) { return 128U; });
  test::VideoSource source(grey, 32, 16);
  BlockAnalyser analyser;
  Encoder({.coding = {.width = 32, .height = 16, .qp = 25}}).encode(source, [&](EncodedFrame&& frame) {
    const KindBits bits = analyser.analyse(frame.bytes).bits;
    const std::uint64_t luma = 8;
    const std::uint64_t chroma = 4;
    EXPECT_EQ(bits.ac, 0U);
    EXPECT_EQ(bits.end_of_block, 4 * luma + 2 * chroma);
    if (frame.key) {
      EXPECT_EQ(bits.flags, luma + chroma);
      EXPECT_EQ(bits.vectors, 0U);
      EXPECT_GT(bits.dc, 2 * (luma + chroma));
    } else {
      EXPECT_EQ(bits.flags, 2 * (luma + chroma));
      EXPECT_EQ(bits.dc, 2 * (luma + chroma));
    }
  });
}

}  // namespace
}  // namespace c63::block_statistics_test
