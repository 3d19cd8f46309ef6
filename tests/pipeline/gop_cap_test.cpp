// Tests encodes in which GOPs have different qualities. Each GOP must have the same bytes as in a video that has this
// quality everywhere. Other GOPs, coded at the same time, must not change it.

#include "c63/gop_cap.h"

#include <gtest/gtest.h>

#include "pipeline/coding.h"

namespace c63::test::gop_cap_test {
namespace {

constexpr int kWidth = 64;
constexpr int kHeight = 48;
constexpr int kFrames = 20;
constexpr int kInterval = 5;

std::vector<Bytes> gops_of(const CappedPass& pass, const ExecutionSettings& execution) {
  Encoder encoder({.coding = pass.settings, .execution = execution});
  encoder.set_planner(planner_of(pass));
  VideoSource source(moving_video(kWidth, kHeight, kFrames), kWidth, kHeight);
  const Encoded encoded = encode_source(source, encoder);
  EXPECT_FALSE(encoded.error);
  std::vector<Bytes> gops;
  for (const EncodedFrame& frame : encoded.frames) {
    if (frame.key) gops.emplace_back();
    gops.back().insert(gops.back().end(), frame.bytes.begin(), frame.bytes.end());
  }
  return gops;
}

TEST(GopCap, AGopIsCodedAsInAVideoOfItsQuality) {
  for (const Preset preset : {Preset::reference, Preset::fast, Preset::best}) {
    CodingSettings coding{.width = kWidth, .height = kHeight, .preset = preset, .qp = 25, .key_interval = kInterval};
    const CappedPass mixed{coding, {{5, {9, 1}}, {15, {14.5, preset == Preset::reference ? 1 : 1.7}}}};
    const std::vector<Bytes> gops = gops_of(mixed, {.threads = 1, .lanes = 1});
    ASSERT_EQ(gops.size(), 4U);
    EXPECT_EQ(gops_of(mixed, {.threads = 2, .lanes = 3}), gops);
    EXPECT_EQ(gops_of(mixed, {.threads = 3, .lanes = 2, .simd = SimdLevel::scalar}), gops);
    const std::vector<Bytes> plain = gops_of({coding, {}}, {});
    EXPECT_EQ(gops[0], plain[0]);
    EXPECT_EQ(gops[2], plain[2]);
    for (const auto& [first, quality] : mixed.gops) {
      coding.qp = quality.qp;
      coding.rate.lambda_scale = quality.lambda_scale;
      const auto at = static_cast<std::size_t>(first / kInterval);
      EXPECT_NE(gops[at], plain[at]);
      EXPECT_EQ(gops[at], gops_of({coding, {}}, {})[at]) << first;
    }
  }
}

}  // namespace
}  // namespace c63::test::gop_cap_test
