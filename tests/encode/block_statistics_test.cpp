#include "encode/block_statistics.h"

#include <gtest/gtest.h>

#include <numeric>

#include "c63/encoder.h"
#include "support/generators.h"
#include "support/sources.h"

namespace c63::block_statistics_test {
namespace {

std::uint64_t sum(const std::vector<std::uint32_t>& bits) { return std::accumulate(bits.begin(), bits.end(), std::uint64_t{0}); }

TEST(BlockStatisticsTest, BitsOfBlocksAreThoseThatTheEncoderCounts) {
  for (const int qp : {5, 25, 50}) {
    const int width = 44;
    const int height = 28;
    test::VideoSource source(test::generate_b(width, height, 5), width, height);
    BlockAnalyser analyser;
    int frames = 0;
    Encoder({.coding = {.width = width, .height = height, .qp = static_cast<double>(qp), .key_interval = 3}, .measurement = {.keep_motion = true}})
        .encode(source, [&](EncodedFrame&& frame) {
          const FrameBlocks blocks = analyser.analyse(frame.bytes);
          EXPECT_EQ(blocks.key, frame.key);
          EXPECT_EQ(blocks.width, width);
          EXPECT_EQ(blocks.height, height);
          std::uint64_t motion = 0;
          for (int p = 0; p < 3; ++p) {
            motion += sum(blocks.planes[p].motion_bits);
            if (!frame.key) {
              EXPECT_EQ(blocks.planes[p].vectors, frame.motion[p].vectors);
            }
            for (const std::uint8_t inter : blocks.planes[p].inter) EXPECT_EQ(inter, frame.key ? 0 : 1);
          }
          EXPECT_EQ(motion, frame.statistics.bits.motion);
          EXPECT_EQ(sum(blocks.planes[0].coefficient_bits), frame.statistics.bits.luma);
          EXPECT_EQ(sum(blocks.planes[1].coefficient_bits) + sum(blocks.planes[2].coefficient_bits),
                    frame.statistics.bits.chroma);
          const KindBits& kinds = blocks.bits;
          EXPECT_EQ(kinds.flags + kinds.vectors, frame.statistics.bits.motion);
          EXPECT_EQ(kinds.dc + kinds.ac + kinds.end_of_block, frame.statistics.bits.luma + frame.statistics.bits.chroma);
          EXPECT_EQ(kinds.sum(), 8 * frame.bytes.size());
          ++frames;
        });
    EXPECT_EQ(frames, 5);
  }
}

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
