// Tests where the segments of a video begin. Their key frames and their bytes must be those of the whole video.

#include "segments/segment_plan.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "c63/encoder.h"
#include "support/coding.h"
#include "support/expect_error.h"

namespace c63::test::segment_plan_test {
using namespace tools;
namespace {

using Frames = std::vector<std::int64_t>;
using Kind = VideoSource::Kind;

constexpr int kWidth = 48;
constexpr int kHeight = 32;

// The grey level of each frame (see scene_video()). Scene cuts are at frames 4, 10, 12 and 19. Frames 7 and 21 are
// flashes. Key intervals of 3 and 2 also place a key frame on a flash.
const std::vector<int> kLevels = {9,   9,   9,   9,   90,  90,  90,  200, 90, 90,  30, 30,
                                  150, 150, 150, 150, 150, 150, 150, 60,  60, 230, 60, 60};

EncoderSettings settings_with(int key_interval, bool scene_cuts) {
  EncoderSettings settings{
      .coding = {.width = kWidth, .height = kHeight, .key_interval = key_interval, .scene_cuts = scene_cuts}};
  settings.execution.threads = 2;
  return settings;
}

/// Returns all key frames of a plan.
Frames key_frames_of(const SegmentPlan& plan, int interval) {
  Frames keys;
  for (std::int64_t key = 0; key < plan.frames; key = first_key_frame_from(plan, interval, key + 1)) keys.push_back(key);
  EXPECT_EQ(count_key_frames(plan, interval, 1000), std::ssize(keys));
  return keys;
}

TEST(SegmentPlan, IsTheSameForEverySource) {
  const Bytes video = scene_video(kWidth, kHeight, kLevels);
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    VideoSource source(video, kWidth, kHeight, kind);
    const SegmentPlan plan = plan_segments(source, settings_with(7, true).coding);
    EXPECT_EQ(plan.frames, 24);
    EXPECT_EQ(plan.scene_starts, (Frames{4, 10, 12, 19}));
    VideoSource again(video, kWidth, kHeight, kind);
    const SegmentPlan without = plan_segments(again, settings_with(7, false).coding);
    EXPECT_EQ(without.frames, 24);
    EXPECT_TRUE(without.scene_starts.empty());
  }
}

TEST(SegmentPlan, KeyFramesAreTheEncoders) {
  for (const int interval : {1, 2, 3, 7, 100}) {
    for (const bool scene_cuts : {false, true}) {
      VideoSource source(scene_video(kWidth, kHeight, kLevels), kWidth, kHeight);
      const SegmentPlan plan = plan_segments(source, settings_with(interval, scene_cuts).coding);
      Frames keys;
      for (const EncodedFrame& frame : encode_source(source, settings_with(interval, scene_cuts)).frames) {
        if (frame.key) keys.push_back(frame.index);
      }
      EXPECT_EQ(key_frames_of(plan, interval), keys) << interval << (scene_cuts ? " with cuts" : "");
    }
  }
}

TEST(SegmentPlan, SegmentsAreWholeGopsEachOnce) {
  const SegmentPlan plan{.frames = 24, .scene_starts = {4, 10, 12, 19}};
  const Frames keys = key_frames_of(plan, 7);
  EXPECT_EQ(keys, (Frames{0, 4, 10, 12, 19}));
  for (int count = 1; count <= 40; ++count) {
    const std::vector<Segment> segments = cut_into_segments(plan, 7, count);
    ASSERT_EQ(segments.size(), static_cast<std::size_t>(count));
    std::int64_t next = 0;
    for (int i = 0; i < count; ++i) {
      const Segment& s = segments[static_cast<std::size_t>(i)];
      EXPECT_EQ(s.number, i + 1);
      EXPECT_EQ(s.of, count);
      EXPECT_EQ(s.first, next);
      EXPECT_TRUE(s.frames == 0 || std::ranges::find(keys, s.first) != keys.end()) << s.first;
      next += s.frames;
    }
    EXPECT_EQ(next, 24);
  }
  const std::vector<Segment> of_two = cut_into_segments(plan, 7, 2);
  EXPECT_EQ(of_two[1].first, 12) << "half of the frames each";
  expect_error(ErrorKind::usage, "C63-SEGMENT-COUNT", [&] { (void)cut_into_segments(plan, 7, 0); });
}

TEST(SegmentPlan, OfAnyNumberOfFramesIsCutAtOnce) {
  for (const std::int64_t frames : {std::int64_t{1'000'000'000'000'000}, std::numeric_limits<std::int64_t>::max()}) {
    const SegmentPlan plan{.frames = frames, .scene_starts = {4, frames - 2}};
    const std::vector<Segment> segments = cut_into_segments(plan, 100, 3);
    EXPECT_EQ(segments[0].first, 0);
    EXPECT_EQ((segments[1].first - 4) % 100, 0);
    EXPECT_EQ(segments[2].first + segments[2].frames, frames);
    EXPECT_EQ(first_key_frame_from(plan, 100, frames - 2), frames - 2);
    EXPECT_EQ(first_key_frame_from(plan, 100, frames - 1), frames);
    EXPECT_EQ(count_key_frames(plan, 100, 1024), 1024);
  }
}

TEST(SegmentPlan, ScenesOfASegmentCountFromItsFirstFrame) {
  const SegmentPlan plan{.frames = 24, .scene_starts = {4, 10, 12, 19}};
  EXPECT_EQ(scene_starts_in(plan, {.first = 4, .frames = 8}), (Frames{0, 6}));
  EXPECT_EQ(scene_starts_in(plan, {.first = 0, .frames = 4}), Frames{});
}

TEST(SegmentPlan, SegmentsHaveTheBytesOfTheWhole) {
  const Bytes video = scene_video(kWidth, kHeight, kLevels);
  for (const int interval : {2, 3, 7}) {
    for (const Kind kind : {Kind::file, Kind::pipe}) {
      VideoSource source(video, kWidth, kHeight, kind);
      const EncoderSettings settings = settings_with(interval, true);
      const Encoded whole = encode_source(source, settings);
      const SegmentPlan plan{.frames = 24, .scene_starts = {4, 10, 12, 19}};
      for (const int count : {2, 3, 5, 16}) {
        std::size_t next = 0;
        for (const Segment& segment : cut_into_segments(plan, interval, count)) {
          const auto part =
              clip_frames(std::make_unique<VideoSource>(video, kWidth, kHeight, kind), segment.first, segment.frames);
          Encoder encoder(settings);
          encoder.set_scene_starts(scene_starts_in(plan, segment));
          encoder.encode(*part, [&](EncodedFrame&& frame) {
            ASSERT_LT(next, whole.frames.size());
            EXPECT_EQ(frame.key, whole.frames[next].key) << next;
            EXPECT_EQ(frame.bytes, whole.frames[next].bytes) << next;
            ++next;
          });
        }
        EXPECT_EQ(next, whole.frames.size());
      }
    }
  }
}

TEST(SegmentPlan, AStopEndsThePassAndFaultsAreThrown) {
  VideoSource source(scene_video(kWidth, kHeight, kLevels), kWidth, kHeight, Kind::pipe);
  std::stop_source stop;
  int frames = 0;
  (void)plan_segments(source, settings_with(7, true).coding, stop.get_token(), [&] {
    if (++frames == 5) stop.request_stop();
  });
  EXPECT_EQ(frames, 5);
  VideoSource broken(scene_video(kWidth, kHeight, kLevels), kWidth, kHeight, Kind::pipe);
  broken.break_at(3);
  expect_error(ErrorKind::input, "TEST-BROKEN", [&] { (void)plan_segments(broken, settings_with(7, false).coding); });
  VideoSource broken_file(scene_video(kWidth, kHeight, kLevels), kWidth, kHeight, Kind::file);
  broken_file.break_at(3);
  expect_error(ErrorKind::input, "TEST-BROKEN", [&] { (void)plan_segments(broken_file, settings_with(7, true).coding); });
}

}  // namespace
}  // namespace c63::test::segment_plan_test
