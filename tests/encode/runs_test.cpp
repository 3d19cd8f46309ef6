// Tests that the result of an encode does not depend on how it runs: on sources, lanes, threads, devices and instruction
// sets, on breaks, stops and devices that fail. All this is tested for each kind of decision that sees more than one frame.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "encode/backends.h"
#include "generate/sequence_generator.h"
#include "support/coding.h"

namespace c63::test::runs_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;
constexpr int kFrames = 21;

#if defined(C63_SANITIZED)
constexpr int kStep = 3;  // sanitizers make encodes ten times as slow
#else
constexpr int kStep = 1;
#endif

using Kind = VideoSource::Kind;

struct Decisions {
  const char* name;
  CodingSettings coding;
};

const Decisions kDecisions[] = {
    {"plain", {.key_interval = 4}},
    {"scene_cuts", {.key_interval = 4, .scene_cuts = true}},
    {"look_ahead",
     {.preset = Preset::fast, .key_interval = 6, .rate = {.adaptive_reference = true, .temporal_filter = true, .propagated_weights = true}}},
    {"good", {.preset = Preset::good, .key_interval = 5, .scene_cuts = true, .rate = {.tune = Tune::ssim}}},
};

/// A video with scenes of 7, 5 and 9 frames. Frame 2 is a flash (one white frame), which is not a scene.
const Bytes& video() {
  static const Bytes frames = [] {
    Bytes bytes;
    for (const auto& [pattern, count] : {std::pair{Pattern::natural, 7}, {Pattern::stars, 5}, {Pattern::noise, 9}}) {
      SequenceGenerator source({.pattern = pattern, .width = kWidth, .height = kHeight, .frames = count});
      for (int i = 0; i < count; ++i) {
        Bytes frame(frame_bytes(kWidth, kHeight), 255);
        const bool flash = bytes.size() == 2 * frame.size();
        EXPECT_TRUE(flash || source.read(i, frame));
        bytes.insert(bytes.end(), frame.begin(), frame.end());
      }
    }
    return bytes;
  }();
  return frames;
}

class Runs : public testing::TestWithParam<Decisions> {
 protected:
  void SetUp() override {
    settings_.coding = GetParam().coding;
    settings_.coding.width = kWidth;
    settings_.coding.height = kHeight;
    EncoderSettings simplest = with(1, 1);
    simplest.execution.simd = SimdLevel::scalar;
    simplest.measurement.keep_reconstruction = true;
    VideoSource source(video(), kWidth, kHeight);
    expected_ = without_error(encode_source(source, simplest));
    ASSERT_EQ(expected_.frames.size(), std::size_t{kFrames});
  }

  [[nodiscard]] EncoderSettings with(int lanes, int threads = 2) const {
    EncoderSettings settings = settings_;
    settings.execution.lanes = lanes;
    settings.execution.threads = threads;
    return settings;
  }
  void expect_all(const Encoded& encoded) const {
    expect_first_frames_of(expected_, without_error(encoded), kFrames);
    EXPECT_EQ(encoded.summary.frames, kFrames);
    EXPECT_EQ(encoded.summary.bytes, expected_.summary.bytes);
    EXPECT_EQ(encoded.summary.key_frames, expected_.summary.key_frames);
  }

  EncoderSettings settings_;
  Encoded expected_;  ///< from a file, with one lane, one thread and the scalar kernels
};

TEST_P(Runs, TheStreamDecodes) { EXPECT_EQ(decode(expected_.stream()), expected_.reconstructions()); }

TEST_P(Runs, SameBytesForEverySourceLaneThreadAndInstructionSet) {
  const auto levels = available_simd_levels();
  std::size_t level = 0;
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (const int threads : {1, 2, 5}) {
      for (int lanes = 0; lanes <= 7; lanes += kStep) {
        SCOPED_TRACE(testing::Message() << lanes << " lanes, " << threads << " threads");
        EncoderSettings settings = with(lanes, threads);
        settings.execution.simd = levels[level++ % levels.size()];
        VideoSource source(video(), kWidth, kHeight, kind);
        const Encoded encoded = encode_source(source, settings);
        expect_all(encoded);
        // If `lanes` is 0, the encoder chooses: one lane for one thread, otherwise one lane more than threads.
        const int wanted = lanes > 0 ? lanes : threads == 1 ? 1 : threads + 1;
        const int gops = (kFrames - 1) / settings_.coding.key_interval + 1;
        if (!settings_.coding.scene_cuts) {
          EXPECT_EQ(encoded.summary.lanes, kind == Kind::file ? std::min(wanted, gops) : wanted);
        }
      }
    }
  }
  EXPECT_EQ(encode(video(), with(3)), expected_.stream()) << "frames read by several threads";
}

TEST_P(Runs, SameBytesOnSeveralDevices) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (std::size_t devices = 1; devices <= 4; ++devices) {
      for (const int lanes : {1, 3, 5, 0}) {
        Encoder encoder(with(lanes), std::vector<BackendFactory>(devices, open_cpu_backend));
        VideoSource source(video(), kWidth, kHeight, kind);
        const Encoded encoded = encode_source(source, encoder);
        expect_all(encoded);
        if (lanes == 0 || (kind == Kind::file && lanes == 5)) continue;  // a file may have fewer GOPs
        EXPECT_EQ(encoded.summary.lanes, lanes) << "together, on as many devices as have one";
      }
    }
  }
}

TEST_P(Runs, BrokenSourceDeliversEveryFrameBefore) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (const int broken : {0, 1, 4, 7, 9, kFrames - 1}) {
      // A look-ahead sees no frame after the break. So the result is that of the video that ends there.
      const Bytes before(video().begin(), video().begin() + static_cast<std::ptrdiff_t>(broken * frame_bytes(kWidth, kHeight)));
      VideoSource ends(before, kWidth, kHeight);
      const Encoded whole = encode_source(ends, with(1));
      for (int lanes = 1; lanes <= 5; lanes += kStep) {
        SCOPED_TRACE(testing::Message() << lanes << " lanes, broken at " << broken);
        VideoSource source(video(), kWidth, kHeight, kind);
        source.break_at(broken);
        expect_frames_before_break(whole, encode_source(source, with(lanes)), broken);
      }
    }
  }
}

TEST_P(Runs, AStopOfAPipeCodesWhatWasReadAndOfAFileWhatDevicesHave) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (const int lanes : {1, 4}) {
      for (const std::size_t after : {1U, 6U, 13U}) {
        Encoder encoder(with(lanes));
        VideoSource source(video(), kWidth, kHeight, kind);
        const Encoded encoded = encode_and_stop_after(after, source, encoder);
        EXPECT_TRUE(encoded.summary.stopped);
        const std::size_t count = encoded.frames.size();
        EXPECT_GE(count, after);
        EXPECT_EQ(encoded.summary.frames, static_cast<std::int64_t>(count));
        if (kind == Kind::file) {
          expect_first_frames_of(expected_, encoded, count);
        } else {
          // The result must be the same as if the input ended after the last frame that was read. Scene cuts and the
          // look-ahead then know nothing of later frames.
          const Bytes read(video().begin(), video().begin() + static_cast<std::ptrdiff_t>(count * frame_bytes(kWidth, kHeight)));
          VideoSource same(read, kWidth, kHeight, kind);
          expect_first_frames_of(encode_source(same, with(lanes)), encoded, count);
        }
      }
    }
  }
}

TEST_P(Runs, FallbackGivesTheSameBytesAndNoFrameTwice) {
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (int lanes = 1; lanes <= 4; lanes += kStep) {
      for (int frames = -1; frames < kFrames; frames += kStep) {
        SCOPED_TRACE(testing::Message() << lanes << " lanes, device fails after " << frames);
        Encoder encoder(with(lanes), failing_after(frames));
        std::vector<std::string> reasons;
        encoder.set_fallback(open_cpu_backend, [&](const std::string& reason) { reasons.push_back(reason); });
        VideoSource source(video(), kWidth, kHeight, kind);
        const Encoded encoded = encode_source(source, encoder);
        expect_all(encoded);
        EXPECT_NE(encoded.summary.backend.find("cpu"), std::string::npos);
        ASSERT_EQ(reasons.size(), 1U);
        EXPECT_NE(reasons[0].find(frames < 0 ? "TEST-NO-DEVICE" : "TEST-DEVICE-LOST"), std::string::npos);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Runs, testing::ValuesIn(kDecisions), [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace c63::test::runs_test
