// Tests that frames are coded as planned, and that plans depend only on what a planner has observed.

#include "decide/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "backend/backend.h"
#include "encode/rate_support.h"

namespace c63::test::planner_test {
namespace {

constexpr int kWidth = 80;
constexpr int kHeight = 48;
constexpr int kFrames = 22;

EncoderSettings settings_with(int lanes) {
  EncoderSettings settings{.coding = {.width = kWidth, .height = kHeight, .key_interval = 6},
                           .execution = {.threads = 2, .lanes = lanes}};
  settings.measurement.keep_reconstruction = settings.measurement.keep_prediction = settings.measurement.keep_motion = true;
  return settings;
}

/// Makes random plans that use many features of the format. Tables differ between planes and frames, some frames are
/// decided by rate, headers are left out, and some frames do not advance the reference.
class FreePlanner final : public Planner {
 public:
  [[nodiscard]] FramePlan plan(const FramePosition& frame) override {
    std::minstd_rand random(static_cast<unsigned>(frame.index) * 7919 + 1);
    const auto below = [&random](unsigned end) { return static_cast<unsigned>(random() >> 8) % end; };
    FramePlan plan;
    plan.index = frame.index;
    plan.key = frame.key;
    // About every second frame gets new tables. Tables are written only when they change.
    const bool new_tables = frame.key || below(2) == 0;
    if (new_tables) {
      for (QuantizationTable& table : tables_) {
        for (std::uint8_t& step : table) step = static_cast<std::uint8_t>(8 + below(60));
      }
    }
    plan.tables = tables_;
    plan.headers = {.quantization_tables = new_tables,
                    .has_sof = frame.key || last_was_key_ || below(3) != 0,
                    .code_tables = below(2) == 0,
                    .scan_components = below(2) == 0};
    last_was_key_ = frame.key;
    // Decisions by rate let some blocks have no vector. In a frame that does not advance the reference, such a block
    // inherits the vector of the previous frame.
    if (below(3) != 0) {
      plan.rate = {.lambda = static_cast<Cost>(200 + below(4000)), .sad_per_bit = 300, .found_vectors = static_cast<int>(below(4)),
                   .beam_width = 1 + static_cast<int>(below(4)), .choose_levels = below(2) == 0};
    }
    return plan;
  }

 private:
  QuantizationTables tables_{};
  bool last_was_key_ = false;
};

Encoded encode_freely(int lanes, std::size_t devices = 1, std::optional<SimdLevel> simd = {}) {
  EncoderSettings settings = settings_with(lanes);
  settings.execution.simd = simd;
  Encoder encoder(settings, std::vector<BackendFactory>(devices, open_cpu_backend));
  encoder.set_planner([] { return std::make_unique<FreePlanner>(); });
  VideoSource source(moving_video(kWidth, kHeight, kFrames), kWidth, kHeight);
  return encode_source(source, encoder);
}

TEST(Plans, DecodeToTheEncodersReconstructionAndPrediction) {
  const Encoded encoded = encode_freely(1);
  expect_decodes(encoded, "free plans");
  EXPECT_EQ(encoded.frames.size(), static_cast<std::size_t>(kFrames));
}

TEST(Plans, SameBytesForEveryLaneDeviceAndInstructionSet) {
  const Bytes expected = encode_freely(1, 1, SimdLevel::scalar).stream();
  for (const int lanes : {0, 2, 4}) {
    for (const std::size_t devices : {1U, 2U}) EXPECT_EQ(encode_freely(lanes, devices).stream(), expected) << lanes;
  }
  for (const SimdLevel level : available_simd_levels()) {
    EXPECT_EQ(encode_freely(2, 1, level).stream(), expected) << name(level);
  }
}

/// Chooses the tables from the total size of the frames observed so far. So its plans depend on what it has observed
/// when a frame is planned. It must have observed exactly the frames that lag() allows.
class LateObserver final : public Planner {
 public:
  explicit LateObserver(int lag) : lag_(lag) {}

  [[nodiscard]] int lag() const override { return lag_; }
  [[nodiscard]] FramePlan plan(const FramePosition& frame) override {
    if (frame.key) key_ = frame.index;
    EXPECT_EQ(observed_, std::max<std::int64_t>(0, frame.index - key_ - lag_ + 1)) << "frames observed before frame " << frame.index;
    FramePlan plan;
    plan.index = frame.index;
    plan.key = frame.key;
    plan.tables = make_quantization_tables(bytes_ % 2 == 0 ? 25 : 12);
    return plan;
  }
  void observe(const FrameOutcome& frame) override {
    EXPECT_EQ(frame.index, key_ + observed_);
    ++observed_;
    bytes_ += frame.bytes;
  }

 private:
  int lag_;
  std::int64_t key_ = 0;
  std::int64_t observed_ = 0;
  std::uint64_t bytes_ = 0;
};

TEST(Plans, ObservationsComeAsLateAsAPlannerSaysWhateverRuns) {
  for (const int lag : {1, 2, 5}) {
    Bytes expected;
    for (const int lanes : {1, 3}) {
      for (const std::size_t devices : {1U, 2U}) {
        Encoder encoder(settings_with(lanes), std::vector<BackendFactory>(devices, open_cpu_backend));
        encoder.set_planner([lag] { return std::make_unique<LateObserver>(lag); });
        VideoSource source(moving_video(kWidth, kHeight, kFrames), kWidth, kHeight);
        const Encoded encoded = encode_source(source, encoder);
        ASSERT_FALSE(encoded.error);
        ASSERT_EQ(encoded.frames.size(), static_cast<std::size_t>(kFrames));
        if (expected.empty()) expected = encoded.stream();
        EXPECT_EQ(encoded.stream(), expected) << lag << " " << lanes;
      }
    }
  }
}

/// An encode of preset reference whose planner is that of another preset gives the other preset's stream.
TEST(Plans, OnlyThePlannerDecides) {
  const Bytes video = moving_video(kWidth, kHeight, kFrames);
  const auto encode_with = [&](const EncoderSettings& settings, const PlannerFactory& planners) {
    Encoder encoder(settings);
    if (planners) encoder.set_planner(planners);
    VideoSource source(video, kWidth, kHeight);
    const Encoded encoded = encode_source(source, encoder);
    EXPECT_FALSE(encoded.error);
    return encoded.stream();
  };
  const EncoderSettings reference = settings_with(2);
  for (const Preset preset : values_of<Preset>()) {
    EncoderSettings settings = reference;
    settings.coding.preset = preset;
    EXPECT_EQ(encode_with(reference, make_planner_factory(settings.coding)), encode_with(settings, {})) << name(preset);
  }
}

/// With a frame interval of 3, only every third frame is coded, counted from the key frame. The frames in between must
/// be repeats of four bytes, with every preset.
TEST(FrameInterval, FramesBetweenAreRepeats) {
  for (const Preset preset : values_of<Preset>()) {
    EncoderSettings settings = settings_with(1);
    settings.coding.preset = preset;
    settings.coding.key_interval = 8;
    settings.coding.frame_interval = 3;
    Encoder encoder(settings);
    VideoSource source(moving_video(kWidth, kHeight, kFrames), kWidth, kHeight);
    const Encoded encoded = encode_source(source, encoder);
    ASSERT_EQ(encoded.frames.size(), static_cast<std::size_t>(kFrames));
    for (std::size_t i = 0; i < encoded.frames.size(); ++i) {
      const EncodedFrame& frame = encoded.frames[i];
      EXPECT_EQ(frame.key, i % 8 == 0);
      if (i % 8 % 3 == 0) continue;
      EXPECT_TRUE(frame.repeat) << i;
      EXPECT_EQ(frame.bytes.size(), 4U) << i;
      EXPECT_EQ(frame.reconstruction, encoded.frames[i - 1].reconstruction) << i;
    }
  }
}

}  // namespace
}  // namespace c63::test::planner_test
