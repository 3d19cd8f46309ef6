#include "pipeline/block_statistics.h"

#include <gtest/gtest.h>

#include <numeric>

#include "c63/encoder.h"
#include "support/generators.h"
#include "support/sources.h"

namespace c63 {
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
          ++frames;
        });
    EXPECT_EQ(frames, 5);
  }
}

}  // namespace
}  // namespace c63
