// Tests the look-ahead in a GOP, which filters frames over time and weights them by how errors propagate. The bytes
// must not depend on lanes, threads or the kind of source.

#include <gtest/gtest.h>

#include <algorithm>

#include "c63/filters.h"
#include "c63/quality.h"
#include "encode/rate_support.h"

namespace c63::test::lookahead_test {
namespace {

constexpr int kWidth = 96;
constexpr int kHeight = 64;

CodingSettings looking_ahead(bool filter, bool propagate, int key_interval = 100, bool choose_reference = false) {
  return {.width = kWidth,
          .height = kHeight,
          .preset = Preset::fast,
          .qp = 15,
          .key_interval = key_interval,
          .rate = {.adaptive_reference = choose_reference, .temporal_filter = filter, .propagated_weights = propagate}};
}

TEST(Lookahead, GopsAreEncodedAsIfEachWereAlone) {
  constexpr int kSmall = 48;
  const Bytes video = noisy_video(kSmall, kSmall, 47, 5);
  const std::size_t gop_bytes = 20 * frame_bytes(kSmall, kSmall);
  for (int which = 1; which < 8; ++which) {
    CodingSettings coding = looking_ahead((which & 1) != 0, (which & 2) != 0, 20, (which & 4) != 0);
    coding.width = coding.height = kSmall;
    Bytes alone;
    for (std::size_t first = 0; first < video.size(); first += gop_bytes) {
      const auto begin = video.begin() + static_cast<std::ptrdiff_t>(first);
      const auto size = static_cast<std::ptrdiff_t>(std::min(gop_bytes, video.size() - first));
      const Bytes stream = encode_video(Bytes(begin, begin + size), kSmall, kSmall, coding, 1, SimdLevel::scalar, 1).stream();
      alone.insert(alone.end(), stream.begin(), stream.end());
    }
    // runs_test.cpp tests all numbers of lanes and threads. Here, each set of decisions gets one.
    for (const auto kind : {VideoSource::Kind::file, VideoSource::Kind::pipe}) {
      VideoSource source(video, kSmall, kSmall, kind);
      const EncoderSettings settings{.coding = coding, .execution = {.threads = 1 + which % 2 * 2, .lanes = 1 + which % 3}};
      EXPECT_EQ(without_error(encode_source(source, settings)).stream(), alone) << which;
    }
  }
}

TEST(Lookahead, EndsAtAScene) {
  Bytes video = noisy_video(kWidth, kHeight, 8, 3);
  const std::size_t first_scene = video.size();
  for (std::size_t i = 0; i < first_scene; ++i) video.push_back(static_cast<std::uint8_t>(video[i] / 4));
  CodingSettings coding = looking_ahead(true, true, 100, true);
  const Bytes first = encode_video(Bytes(video.begin(), video.begin() + static_cast<std::ptrdiff_t>(first_scene)), kWidth,
                                   kHeight, coding)
                          .stream();
  coding.scene_cuts = true;
  for (const auto kind : {VideoSource::Kind::file, VideoSource::Kind::pipe}) {
    VideoSource source(video, kWidth, kHeight, kind);
    const Encoded encoded = encode_source(source, {.coding = coding, .execution = {.threads = 2}});
    ASSERT_EQ(encoded.frames.size(), 16U);
    EXPECT_TRUE(encoded.frames[8].key);
    const Bytes stream = encoded.stream();
    ASSERT_GT(stream.size(), first.size());
    EXPECT_TRUE(std::equal(first.begin(), first.end(), stream.begin()));
  }
}

/// The CPU keeps the frames for looking ahead in host memory. Together with the other memory of lanes, they may take
/// half of the limit.
TEST(Lookahead, HasAsManyLanesAsThereIsMemoryFor) {
  const Bytes video = noisy_video(kWidth, kHeight, 24, 3);
  const CodingSettings coding = looking_ahead(true, true, 3, true);
  constexpr std::uint64_t kPicture = kWidth * kHeight * 3 / 2;
  // The memory of a lane, in pictures. The look-ahead takes 9/4 for each of 13 frames, 1 for an averaged frame, and 1
  // for weights. The chain itself takes 15.
  constexpr std::uint64_t kLane = (9 * 13 / 4 + 1 + 1 + 15) * kPicture;
  const auto encode = [&](std::uint64_t max_memory) {
    EncoderSettings settings{.coding = coding, .execution = {.threads = 2, .lanes = 6}};
    settings.execution.limits.max_memory = max_memory;
    VideoSource source(video, kWidth, kHeight);
    return encode_source(source, settings);
  };
  const Encoded many = encode(100 * kLane);
  EXPECT_EQ(many.summary.lanes, 6);
  for (const int lanes : {1, 3}) {
    const Encoded few = encode(2 * static_cast<std::uint64_t>(lanes) * kLane);
    EXPECT_EQ(few.summary.lanes, lanes);
    EXPECT_EQ(few.stream(), many.stream());
  }
  const Encoded none = encode(kLane - 1);
  expect_failed(none, ErrorKind::limit, "C63-MAX-MEMORY");
}

/// The encoder codes filtered frames, but must report errors against the unfiltered ones. Filtering must save bits.
TEST(TemporalFilter, ErrorsAreMeasuredAgainstTheOriginal) {
  // A still picture with noise. With more noise, frames would be mostly new and not filtered.
  Random random(7);
  const Bytes video = generate(kWidth, kHeight, 6, [&](std::uint32_t x, std::uint32_t y, std::uint32_t, std::uint32_t) {
    return 50 + x + y / 2 + random.below(17);
  });
  EncoderSettings settings{.coding = looking_ahead(true, false), .execution = {.threads = 2}};
  settings.measurement.ssim = settings.measurement.keep_reconstruction = true;
  VideoSource source(video, kWidth, kHeight);
  const Encoded encoded = encode_source(source, settings);
  const std::size_t bytes = frame_bytes(kWidth, kHeight);
  for (std::size_t i = 0; i < encoded.frames.size(); ++i) {
    const auto original = std::span(video).subspan(i * bytes, bytes);
    const auto planes = split_planes(original, kWidth, kHeight);
    const Bytes& shown = encoded.frames[i].reconstruction;
    const auto shown_planes = split_planes(std::span<const std::uint8_t>(shown), kWidth, kHeight);
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(encoded.frames[i].statistics.sse[p], sum_of_squared_errors(planes[p], shown_planes[p])) << i;
    }
    EXPECT_EQ(encoded.frames[i].statistics.ssim, ssim_of_frames(original, shown, {kWidth, kHeight}));
  }
  const Encoded plain = encode_video(video, kWidth, kHeight, looking_ahead(false, false));
  EXPECT_LT(encoded.stream().size(), plain.stream().size());
}

TEST(PropagatedWeights, SpendMoreOnWhatStays) {
  // The left half of the picture never changes. The right half is new noise in every frame.
  Random random(2);
  const Bytes video = generate(kWidth, kHeight, 20, [&](std::uint32_t x, std::uint32_t y, std::uint32_t, std::uint32_t p) {
    const std::uint32_t noise = random.below(256);
    return x < (p == 0 ? 48U : 24U) ? (x * x * 5 + y * y * 3) / 16 % 256 : noise;
  });
  const auto left_error = [&](bool propagate) {
    const Encoded encoded = encode_video(video, kWidth, kHeight, looking_ahead(false, propagate));
    std::uint64_t error = 0;
    for (std::size_t y = 0; y < kHeight; ++y) {
      for (std::size_t x = 0; x < 48; ++x) {
        const int difference = encoded.frames[0].reconstruction[y * kWidth + x] - video[y * kWidth + x];
        error += static_cast<std::uint64_t>(difference * difference);
      }
    }
    return error;
  };
  EXPECT_LT(left_error(true) * 10, left_error(false) * 9);
}

}  // namespace
}  // namespace c63::test::lookahead_test
