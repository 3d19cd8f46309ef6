// Tests which frames become key frames at scene cuts. runs_test.cpp tests that nothing about a run changes that.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <vector>

#include "generate/sequence_generator.h"
#include "support/coding.h"

namespace c63::test::scene_cut_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;

using Indices = std::vector<std::int64_t>;

EncoderSettings settings_with(int key_interval, int lanes = 1) {
  EncoderSettings settings{.coding = {.width = kWidth, .height = kHeight, .key_interval = key_interval, .scene_cuts = true}};
  settings.execution.lanes = lanes;
  settings.execution.threads = 2;
  return settings;
}

Indices keys_of(const Encoded& encoded) {
  Indices keys;
  for (std::size_t i = 0; i < encoded.frames.size(); ++i) {
    EXPECT_EQ(encoded.frames[i].index, static_cast<std::int64_t>(i));
    if (encoded.frames[i].key) keys.push_back(encoded.frames[i].index);
  }
  EXPECT_EQ(encoded.summary.key_frames, static_cast<std::int64_t>(keys.size()));
  return keys;
}

Indices keys_of(const std::vector<int>& levels, int key_interval = 100) {
  VideoSource source(scene_video(kWidth, kHeight, levels), kWidth, kHeight);
  return keys_of(encode_source(source, settings_with(key_interval)));
}

TEST(SceneCuts, StartAGop) {
  EXPECT_EQ(keys_of({9, 9, 9, 90, 90}), (Indices{0, 3}));
  EXPECT_EQ(keys_of({9, 90, 90}), (Indices{0, 1}));
  EXPECT_EQ(keys_of({9, 9, 90}), (Indices{0, 2})) << "the last frame";
  EXPECT_EQ(keys_of({9, 9, 90, 90, 9, 9}), (Indices{0, 2, 4})) << "and back";
  EXPECT_EQ(keys_of({9, 90, 200, 30, 30}), (Indices{0, 1, 2, 3})) << "scenes of one frame";
  EXPECT_EQ(keys_of({9}), (Indices{0}));
}

TEST(SceneCuts, TheKeyIntervalIsTheMostAndCountsFromTheCut) {
  EXPECT_EQ(keys_of({9, 9, 9, 9, 90, 90, 90, 90, 90}, 3), (Indices{0, 3, 4, 7}));
  EXPECT_EQ(keys_of({9, 9, 9, 90, 90, 90, 90}, 3), (Indices{0, 3, 6})) << "a cut where there is a key frame anyway";
  EXPECT_EQ(keys_of({9, 9, 90, 90}, 1), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(keys_of({9, 9, 90, 90, 90}, 1'000'000'000), (Indices{0, 2}));
}

TEST(SceneCuts, FlashesFadesAndPansAreNotCuts) {
  EXPECT_EQ(keys_of({9, 9, 200, 9, 9}), (Indices{0}));
  EXPECT_EQ(keys_of({9, 9, 200, 9, 90, 90}), (Indices{0, 4})) << "a cut after a flash";
  EXPECT_EQ(keys_of({9, 9, 200, 90, 90}), (Indices{0, 2, 3})) << "a flash in a cut is a scene of one frame";
  EXPECT_EQ(keys_of({9, 9, 200, 9, 9}, 2), (Indices{0, 2, 4})) << "a key frame on a flash does not make it the scene";
  EXPECT_EQ(keys_of({10, 12, 14, 16, 18, 20, 22, 24, 26, 28}), (Indices{0}));
  for (const Pattern pattern : {Pattern::natural, Pattern::pan, Pattern::zoom, Pattern::rotate, Pattern::objects}) {
    SequenceGenerator source({.pattern = pattern, .width = kWidth, .height = kHeight, .frames = 12});
    EXPECT_EQ(keys_of(encode_source(source, settings_with(100))), (Indices{0})) << name(pattern);
  }
}

/// A long video without cuts that requests a stop when a frame is read for the 20th time.
class StoppingSource final : public FrameSource {
 public:
  explicit StoppingSource(bool concurrent) : concurrent_(concurrent) {}
  [[nodiscard]] VideoFormat format() const override { return {kWidth, kHeight, {}}; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return kFrames; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return concurrent_; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    std::ranges::fill(frame, 7);
    if (++reads == 20) stop.request_stop();
    return index < kFrames;
  }

  std::atomic<int> reads = 0;
  std::stop_source stop;

 private:
  static constexpr std::int64_t kFrames = 100'000;
  bool concurrent_;
};

// The second lane's GOP begins after 100,000 frames. The search for cuts before it must end at the stop.
TEST(SceneCuts, AStopEndsTheSearch) {
  for (const bool concurrent : {false, true}) {
    StoppingSource source(concurrent);
    const EncodeSummary summary =
        Encoder(settings_with(100'000, 2)).encode(source, [](EncodedFrame&&) {}, source.stop.get_token());
    EXPECT_TRUE(summary.stopped);
    EXPECT_LE(source.reads, 20 + 16 + 3) << "one step of the search, and the frames that a lane may hold";
  }
}

}  // namespace
}  // namespace c63::test::scene_cut_test
