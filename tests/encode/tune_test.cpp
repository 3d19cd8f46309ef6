// Tests tuning by weights. With weights, an error counts less in some places than in others.

#include <gtest/gtest.h>

#include <memory>

#include "decide/planner.h"
#include "decide/presets.h"
#include "generate/sequence_generator.h"
#include "encode/rate_support.h"
#include "support/expect_error.h"

namespace c63::test::tune_test {
namespace {

TEST(Tune, IsBetterBySsimAtFewerBits) {
  const auto encode = [](Tune tune, double qp) {
    EncoderSettings settings{.coding = {.width = 176, .height = 144, .preset = Preset::good, .qp = qp, .rate = {.tune = tune}},
                             .execution = {.threads = 2}};
    settings.measurement.ssim = true;
    SequenceGenerator source({.pattern = Pattern::objects, .width = 176, .height = 144, .frames = 4});
    return encode_source(source, settings);
  };
  const auto ssim = [](const Encoded& encoded) {
    double sum = 0;
    for (const EncodedFrame& frame : encoded.frames) sum += frame.statistics.ssim[0];
    return sum;
  };
  const Encoded psnr = encode(Tune::psnr, 14);
  const Encoded tuned = encode(Tune::ssim, 16);
  EXPECT_LT(tuned.stream().size(), psnr.stream().size());
  EXPECT_GT(ssim(tuned), ssim(psnr));
}

TEST(Tune, IsUselessIfNothingIsDecidedByRate) {
  expect_error(ErrorKind::usage, "C63-TUNE-PRESET",
               [] { validate({.coding = {.width = 16, .height = 16, .rate = {.tune = Tune::ssim}}}); });
  EXPECT_NO_THROW(validate({.coding = {.width = 16, .height = 16, .rate = {.choose_levels = true, .tune = Tune::ssim}}}));
}

/// Makes the plans of a preset and adds weights to them. The weights may be random or invalid.
class WeighingPlanner final : public Planner {
 public:
  enum class Kind { plain, random, too_few, too_large };
  WeighingPlanner(const CodingSettings& coding, Kind kind)
      : preset_(make_planner_factory(coding)()),
        mcus_(static_cast<std::size_t>(Geometry(coding.width, coding.height).mcus())),
        kind_(kind) {}
  [[nodiscard]] int lag() const override { return preset_->lag(); }
  void observe(const FrameOutcome& frame) override { preset_->observe(frame); }
  [[nodiscard]] FramePlan plan(const FramePosition& frame) override {
    FramePlan plan = preset_->plan(frame);
    auto weights = std::make_shared<FrameWeights>(kind_ == Kind::too_few ? mcus_ - 1 : mcus_, kPlainWeight);
    Random random(static_cast<std::uint64_t>(frame.index));
    for (Weight& weight : *weights) {
      if (kind_ == Kind::random) weight = static_cast<Weight>(random.below(kWeights));
    }
    if (kind_ == Kind::too_large) weights->back() = kWeights;
    plan.weights = std::move(weights);
    return plan;
  }

 private:
  std::unique_ptr<Planner> preset_;
  std::size_t mcus_;
  Kind kind_;
};

Encoded encode_weighed(const Bytes& video, const CodingSettings& coding, WeighingPlanner::Kind kind, SimdLevel simd) {
  EncoderSettings settings{.coding = coding, .execution = {.threads = 2, .simd = simd}};
  settings.measurement.keep_reconstruction = settings.measurement.keep_prediction = settings.measurement.keep_motion = true;
  Encoder encoder(settings);
  encoder.set_planner([coding, kind] { return std::make_unique<WeighingPlanner>(coding, kind); });
  VideoSource source(video, coding.width, coding.height);
  return encode_source(source, encoder);
}

TEST(Weights, ThatAreAllPlainChangeNothing) {
  for (const Preset preset : {Preset::fast, Preset::good}) {
    const CodingSettings coding{.width = 112, .height = 64, .preset = preset, .qp = 18};
    Bytes video = moving_video(112, 64, 3);
    const std::size_t frame = frame_bytes(112, 64);
    video.insert(video.end(), video.end() - static_cast<std::ptrdiff_t>(frame),
                 video.end());  // repeats the last frame
    const Encoded plain = encode_weighed(video, coding, WeighingPlanner::Kind::plain, SimdLevel::scalar);
    EXPECT_TRUE(plain.frames.back().repeat);
    EXPECT_EQ(plain.stream(), encode_video(video, 112, 64, coding).stream());
  }
}

TEST(Weights, OfAPlanAreCarriedOut) {
  for (const double qp : {5.0, 30.0}) {
    const CodingSettings coding{.width = 112, .height = 64, .preset = Preset::good, .qp = qp};
    for (const Bytes& video : {moving_video(112, 64, 4), extreme_video(112, 64, 3)}) {
      const Encoded expected = encode_weighed(video, coding, WeighingPlanner::Kind::random, SimdLevel::scalar);
      expect_decodes(expected, "weighed");
      EXPECT_NE(expected.stream(), encode_video(video, 112, 64, coding).stream());
      const Encoded fast = encode_weighed(video, coding, WeighingPlanner::Kind::random, available_simd_levels().back());
      EXPECT_EQ(fast.stream(), expected.stream());
    }
  }
}

TEST(Weights, OfAnotherNumberOrPastTheLastAreRefused) {
  const CodingSettings coding{.width = 112, .height = 64, .preset = Preset::good};
  for (const auto kind : {WeighingPlanner::Kind::too_few, WeighingPlanner::Kind::too_large}) {
    const Encoded encoded = encode_weighed(moving_video(112, 64, 1), coding, kind, SimdLevel::scalar);
    expect_failed(encoded, ErrorKind::internal, "C63-PLAN-WEIGHTS");
  }
}

}  // namespace
}  // namespace c63::test::tune_test
