// Decodes a stream with repeat frames, frames without SOF and frames without tables, with c63dec and c63pred.

#include <string>

#include "c63/decoder.h"
#include "support/compact_stream.h"
#include "tools_test_support.h"

namespace c63::test {
namespace {

class CompactStreams : public ToolsTest {
 protected:
  void SetUp() override {
    writer_.add_key();
    writer_.add_repeat();
    writer_.add_inter();
    writer_.add_replacing();
    writer_.add_repeat();
    writer_.add_replacing();
    writer_.add_key();
    writer_.add_inter();
    const Bytes bytes = writer_.bytes();
    input_ = write_file("in.c63", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    Decoder({.keep_prediction = true}).decode(bytes, [&](DecodedFrame&& frame) {
      pictures_.append(frame.picture.begin(), frame.picture.end());
      predictions_.append(frame.prediction.begin(), frame.prediction.end());
    });
  }

  CompactStreamWriter writer_{48, 32, 12};
  std::string input_;
  std::string pictures_;
  std::string predictions_;
};

TEST_F(CompactStreams, PicturesPredictionsAndRanges) {
  const std::size_t frame = frame_bytes(48, 32);
  ASSERT_EQ(pictures_.size(), 8 * frame);
  EXPECT_TRUE(run({kDec, "--quiet", input_, "-"}).out == pictures_);
  EXPECT_TRUE(run({kPred, "--quiet", input_, "-"}).out == predictions_);
  EXPECT_TRUE(run({kDec, "--quiet", "--seek", "1", "-f", "4", input_, "-"}).out == pictures_.substr(frame, 4 * frame));
  EXPECT_TRUE(run({kPred, "--quiet", "--seek", "4", "-f", "1", input_, "-"}).out == predictions_.substr(4 * frame, frame));
}

TEST_F(CompactStreams, StatisticsTellTheKindsApart) {
  const std::string text = run({kDec, "--stats", input_, path("o.yuv")}).err;
  EXPECT_NE(text.find("key frames: 2, "), std::string::npos) << text;
  EXPECT_NE(text.find("inter frames: 4, "), std::string::npos) << text;
  EXPECT_NE(text.find("inter frames without SOF: 2"), std::string::npos) << text;
  EXPECT_NE(text.find("repeat frames: 2"), std::string::npos) << text;
  // Counts the luma blocks that have no vector, not even an inherited one. A frame has 24 luma blocks.
  std::size_t without = 0;
  Decoder({.keep_motion = true}).decode(writer_.bytes(), [&](DecodedFrame&& f) {
    without += static_cast<std::size_t>(std::ranges::count(f.motion[0].inter, std::uint8_t{0}));
  });
  ASSERT_GT(without, 0U);
  EXPECT_NE(text.find("luma blocks without a vector: " + std::to_string(without) + " of 96"), std::string::npos) << text;
  EXPECT_NE(text.find("luma vectors: " + std::to_string(96 - without) + ","), std::string::npos) << text;
}

}  // namespace
}  // namespace c63::test
