// Tests presets that decide by rate and distortion. Their streams must decode to the encoder's reconstructions and have
// fewer bits than those of preset reference. They must not depend on threads, lanes or instruction sets.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bitstream/frame_header.h"
#include "encode/rate_support.h"
#include "support/golden_videos.h"

namespace c63::test::rate_test {
namespace {

Bytes noise(int width, int height, int frames, bool extreme) {
  Random random(5);
  return generate(width, height, frames, [&](std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) {
    return extreme ? 255 * random.below(2) : random.below(256);
  });
}

/// Large areas of black and white that change from frame to frame. They give the largest coefficients.
Bytes flashes(int width, int height, int frames) {
  return generate(width, height, frames, [](std::uint32_t x, std::uint32_t y, std::uint32_t f, std::uint32_t) {
    return (x / 8 + y / 8 * 3 + f) % 3 == 0 ? 255U : 0U;
  });
}

#if defined(C63_SANITIZED)
constexpr double kQps[] = {5.0, 25.0};
#else
constexpr double kQps[] = {5.0, 12.5, 25.0, 50.0};
#endif

struct Decisions {
  const char* name;
  Preset preset;
  RateSettings rate;
};

const Decisions kDecisions[] = {
    {"fast", Preset::fast, {}},
    {"good", Preset::good, {}},
    {"best", Preset::best, {}},
    {"good_for_ssim", Preset::good, {.tune = Tune::ssim}},
    {"fast_with_look_ahead", Preset::fast, {.adaptive_reference = true, .temporal_filter = true, .propagated_weights = true}},
};

class ByRate : public testing::TestWithParam<Decisions> {
 protected:
  [[nodiscard]] static CodingSettings coding(double qp, int key_interval, int range = 16) {
    return {.preset = GetParam().preset, .qp = qp, .key_interval = key_interval, .search_range = range, .rate = GetParam().rate};
  }
};

TEST_P(ByRate, DecodesToWhatTheEncoderShows) {
  for (const auto& [width, height] : {std::pair{1, 4}, {16, 16}, {80, 48}, {16, 96}, {100, 50}}) {
    for (const double qp : kQps) {
      const CodingSettings settings = coding(qp, 4);
      const std::string what = std::to_string(width) + "x" + std::to_string(height) + " qp " + std::to_string(qp);
      expect_decodes(encode_video(moving_video(width, height, 5), width, height, settings), "moving " + what);
      expect_decodes(encode_video(noise(width, height, 3, false), width, height, settings), "noise " + what);
      expect_decodes(encode_video(noise(width, height, 3, true), width, height, settings), "extremes " + what);
      expect_decodes(encode_video(flashes(width, height, 3), width, height, settings), "flashes " + what);
      const Bytes flat(3 * frame_bytes(width, height), qp < 10 ? 255 : qp < 20 ? 90 : qp < 30 ? 0 : 128);
      const Encoded encoded = encode_video(flat, width, height, settings);
      expect_decodes(encoded, "flat " + what);
      EXPECT_TRUE(encoded.frames[2].repeat) << what;
    }
  }
}

TEST_P(ByRate, DecodesAtASizeOfManyColumns) {
  expect_decodes(encode_video(moving_video(854, 48, 2), 854, 48, coding(25, 100)), "moving");
  expect_decodes(encode_video(flashes(854, 48, 2), 854, 48, coding(25, 100)), "flashes");
}

TEST_P(ByRate, DecodesWithAnyRange) {
  for (const int range : {1, 2, 3, 17, 127}) {
    expect_decodes(encode_video(moving_video(80, 48, 3), 80, 48, coding(25, 100, range)), "range " + std::to_string(range));
    expect_decodes(encode_video(moving_video(16, 16, 3), 16, 16, coding(25, 100, range)), "range " + std::to_string(range));
  }
}

/// Sets options to the ends of their ranges, and encodes the content with the largest costs. The stream must decode.
TEST_P(ByRate, ExtremesOfOptionsDecode) {
  for (const double scale : {0.05, 4.0}) {
    for (const int most : {0, 7}) {
      CodingSettings settings = coding(scale > 1 ? 1.0 : 50.0, 100, 40);
      settings.rate.candidates = most;
      settings.rate.beam = most + 1;
      settings.rate.lambda_scale = scale;
      expect_decodes(encode_video(noise(80, 48, 3, true), 80, 48, settings), "extremes");
      expect_decodes(encode_video(flashes(80, 48, 3), 80, 48, settings), "flashes");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ByRate, testing::ValuesIn(kDecisions), [](const auto& tested) { return std::string(tested.param.name); });

class RatePresets : public testing::TestWithParam<Preset> {};

TEST_P(RatePresets, RepeatFramesIfNothingChanges) {
  const Bytes still = moving_video(80, 48, 1);
  Bytes video;
  for (int i = 0; i < 5; ++i) video.insert(video.end(), still.begin(), still.end());
  for (std::size_t i = 3 * still.size(); i < 3 * still.size() + 80 * 20; ++i)
    video[i] ^= 0xFF;  // changes some samples, but only in the fourth frame
  const Encoded encoded = encode_video(video, 80, 48, {.preset = GetParam()});
  expect_decodes(encoded, "still");
  const Bytes repeat = {0xFF, 0xD8, 0xFF, 0xD9};
  EXPECT_FALSE(encoded.frames[0].repeat);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_TRUE(encoded.frames[i].repeat) << i;
    EXPECT_EQ(encoded.frames[i].bytes, repeat) << i;
    EXPECT_EQ(encoded.frames[i].statistics.sse, encoded.frames[0].statistics.sse) << i;
  }
  EXPECT_FALSE(encoded.frames[3].repeat);
  EXPECT_FALSE(encoded.frames[4].repeat);

  const Encoded without = encode_video(video, 80, 48, {.preset = GetParam(), .rate = {.repeats = false}});
  expect_decodes(without, "still, coded");
  for (const EncodedFrame& frame : without.frames) EXPECT_FALSE(frame.repeat);
}

INSTANTIATE_TEST_SUITE_P(All, RatePresets, testing::Values(Preset::fast, Preset::good, Preset::best),
                         [](const auto& preset) { return std::string(name(preset.param)); });

/// parity/golden_test.cpp tests that these streams are the same with every instruction set.
TEST(GoldenSettings, Decode) {
  for (const GoldenSettings& golden : kGoldenSettings) {
    expect_decodes(encode_video(mixed_video(), 96, 64, golden.coding), golden.name);
  }
}

/// Returns true if a frame advances the reference. Such a frame has a SOF.
bool advances(const EncodedFrame& frame) {
  const Bytes marker = {0xFF, 0xC0};
  return std::search(frame.bytes.begin(), frame.bytes.end(), marker.begin(), marker.end()) != frame.bytes.end();
}

/// Returns a video of two different pictures that alternate. So each frame equals the frame before the previous one, which
/// is the reference of the previous frame.
Bytes two_pictures_by_turns(int frames) {
  const Bytes pictures[] = {moving_video(96, 64, 1, 1), noise(96, 64, 1, false)};
  Bytes video;
  for (int i = 0; i < frames; ++i) video.insert(video.end(), pictures[i % 2].begin(), pictures[i % 2].end());
  return video;
}

/// Expects that a stream is at least a tenth smaller than that of the same encode in which all frames advance.
void expect_less_than_advancing(const Encoded& encoded, const Bytes& video, CodingSettings coding) {
  coding.rate.adaptive_reference = false;
  const Encoded advancing = encode_video(video, 96, 64, coding);
  for (const EncodedFrame& frame : advancing.frames) EXPECT_TRUE(advances(frame));
  EXPECT_LT(encoded.stream().size() * 10, advancing.stream().size() * 9);
}

TEST(AdaptiveReference, StaysIfThePictureBeforeLastIsBetter) {
  const Bytes video = two_pictures_by_turns(6);
  for (const int beam : {1, 4}) {
    const CodingSettings coding{.preset = Preset::fast, .rate = {.beam = beam, .adaptive_reference = true}};
    const Encoded encoded = encode_video(video, 96, 64, coding);
    expect_decodes(encoded, "by turns");
    EXPECT_TRUE(advances(encoded.frames[1]));   // after a key frame
    EXPECT_FALSE(advances(encoded.frames[2]));  // equals the key frame
    expect_less_than_advancing(encoded, video, coding);
  }
}

/// Preset good makes a trial and learns from its bits that the frame before the previous one is the better reference.
/// After that, every second frame does not advance the reference.
TEST(AdaptiveReference, GoodAlternatesIfATrialPays) {
  const Bytes video = two_pictures_by_turns(40);
  const CodingSettings coding{.preset = Preset::good, .key_interval = 20};
  const Encoded encoded = encode_video(video, 96, 64, coding, 1, SimdLevel::scalar, 1);
  expect_decodes(encoded, "by turns");
  std::string stays;
  for (const EncodedFrame& frame : encoded.frames) stays += advances(frame) ? '.' : 's';
  const std::string gop = ".....s...s.s.s.s.s.s";
  EXPECT_EQ(stays, gop + gop);
  for (const int lanes : {0, 2}) EXPECT_EQ(encode_video(video, 96, 64, coding, lanes, {}, 3).stream(), encoded.stream()) << lanes;
  expect_less_than_advancing(encoded, video, coding);
}

/// In a random order of pictures, frames that advance the reference, frames that do not, repeats and key frames follow
/// each other in many different orders.
TEST(AdaptiveReference, DecodesWhateverComesNext) {
  Random random(9);
  for (int round = 0; round < 6; ++round) {
    const std::vector<Bytes> pictures = {moving_video(80, 48, 1, 1), moving_video(80, 48, 2, 2), noise(80, 48, 1, false)};
    Bytes video;
    for (int i = 0; i < 24; ++i) {
      const Bytes& picture = pictures[random.below(3)];
      video.insert(video.end(), picture.end() - static_cast<std::ptrdiff_t>(frame_bytes(80, 48)), picture.end());
    }
    const CodingSettings coding{.preset = round % 2 == 0 ? Preset::best : Preset::fast,
                                .qp = round < 3 ? 8.0 : 30.0,
                                .key_interval = 9,
                                .rate = {.adaptive_reference = true, .tune = round % 3 == 0 ? Tune::ssim : Tune::psnr}};
    const Encoded encoded = encode_video(video, 80, 48, coding, 1, SimdLevel::scalar, 1);
    expect_decodes(encoded, "round " + std::to_string(round));
    EXPECT_GT(std::ranges::count_if(encoded.frames, [](const EncodedFrame& f) { return !f.repeat && !advances(f); }), 0);
    EXPECT_EQ(encode_video(video, 80, 48, coding, 3, {}, 3).stream(), encoded.stream());
  }
}

}  // namespace
}  // namespace c63::test::rate_test
