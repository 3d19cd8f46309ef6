// Tests which frames become key frames at scene cuts. Sources, lanes, threads, stops, errors and fallbacks must not
// change that.

#include <gtest/gtest.h>

#include <stop_token>
#include <vector>

#include "backend/backend.h"
#include "generate/sequence_generator.h"
#include "support/coding.h"
#include "encode/failing_backend.h"

namespace c63::test::scene_cut_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;

using Kind = VideoSource::Kind;
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

/// A video with scenes of 7, 5 and 9 frames. Frame 2 is a flash (one white frame), which is not a scene.
const Bytes& generated_scenes() {
  static const Bytes video = [] {
    Bytes frames;
    for (const auto& [pattern, count] : {std::pair{Pattern::natural, 7}, {Pattern::stars, 5}, {Pattern::noise, 9}}) {
      SequenceGenerator source({.pattern = pattern, .width = kWidth, .height = kHeight, .frames = count});
      for (int i = 0; i < count; ++i) {
        Bytes frame(frame_bytes(kWidth, kHeight), 255);
        const bool flash = frames.size() == 2 * frame.size();
        EXPECT_TRUE(flash || source.read(i, frame));
        frames.insert(frames.end(), frame.begin(), frame.end());
      }
    }
    return frames;
  }();
  return video;
}

const Indices kKeys = {0, 4, 7, 11, 12, 16, 20};

const Encoded& expected() {
  static const Encoded encoded = [] {
    EncoderSettings settings = settings_with(4);
    settings.execution.threads = 1;
    settings.execution.simd = SimdLevel::scalar;
    settings.measurement.keep_reconstruction = true;
    VideoSource source(generated_scenes(), kWidth, kHeight);
    return encode_source(source, settings);
  }();
  return encoded;
}

void expect_first_frames(const Encoded& encoded, std::size_t count) {
  expect_first_frames_of(expected(), encoded, count);
}

TEST(SceneCuts, StreamsDecode) {
  ASSERT_EQ(keys_of(expected()), kKeys);
  EXPECT_EQ(decode(expected().stream()), expected().reconstructions());
}

TEST(SceneCuts, SameBytesForEverySourceLaneAndThread) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (const int threads : {1, 2, 5}) {
      for (int lanes = 0; lanes <= 7; ++lanes) {
        EncoderSettings settings = settings_with(4, lanes);
        settings.execution.threads = threads;
        VideoSource source(generated_scenes(), kWidth, kHeight, kind);
        const Encoded encoded = without_error(encode_source(source, settings));
        expect_first_frames(encoded, 21);
      }
    }
  }
  EXPECT_EQ(encode(generated_scenes(), settings_with(4, 3)), expected().stream()) << "frames read by several threads";
}

TEST(SceneCuts, BrokenSourceDeliversEveryFrameBefore) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (int lanes = 1; lanes <= 5; ++lanes) {
      for (const int broken : {0, 1, 6, 7, 8, 20}) {
        VideoSource source(generated_scenes(), kWidth, kHeight, kind);
        source.break_at(broken);
        const Encoded encoded = encode_source(source, settings_with(4, lanes));
        SCOPED_TRACE(::testing::Message() << lanes << " lanes, broken at " << broken);
        expect_frames_before_break(expected(), encoded, broken);
      }
    }
  }
}

TEST(SceneCuts, StopFinishesTheFramesInHand) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (const int lanes : {1, 4}) {
      for (const std::size_t after : {1U, 6U, 13U}) {
        Encoder encoder(settings_with(4, lanes));
        VideoSource source(generated_scenes(), kWidth, kHeight, kind);
        const Encoded encoded = encode_and_stop_after(after, source, encoder);
        EXPECT_TRUE(encoded.summary.stopped);
        const std::size_t count = encoded.frames.size();
        EXPECT_GE(count, after);
        if (kind == Kind::file) {
          expect_first_frames(encoded, count);
        } else {
          // The result must be the same as if the input ended after the last frame that was read. The encoder then
          // cannot know whether a change near the end is a flash or a new scene.
          const Bytes read(generated_scenes().begin(), generated_scenes().begin() + count * frame_bytes(kWidth, kHeight));
          VideoSource same(read, kWidth, kHeight, kind);
          Encoder again(settings_with(4, lanes));
          expect_first_frames_of(encode_source(same, again), encoded, count);
        }
      }
    }
  }
}

TEST(SceneCuts, FallbackGivesTheSameBytes) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (int lanes = 1; lanes <= 4; ++lanes) {
      for (int frames = 0; frames < 21; ++frames) {
        Encoder encoder(settings_with(4, lanes), failing_after(frames));
        encoder.set_fallback(open_cpu_backend, nullptr);
        VideoSource source(generated_scenes(), kWidth, kHeight, kind);
        const Encoded encoded = without_error(encode_source(source, encoder));
        expect_first_frames(encoded, 21);
        EXPECT_EQ(encoded.summary.key_frames, static_cast<std::int64_t>(kKeys.size()));
      }
    }
  }
}

}  // namespace
}  // namespace c63::test::scene_cut_test
