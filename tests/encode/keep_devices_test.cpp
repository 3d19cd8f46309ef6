// Tests an encoder that keeps its devices open between videos.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "encode/backends.h"
#include "support/coding.h"

namespace c63::test::keep_devices_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;

EncoderSettings settings_for(int lanes, bool keep = true) {
  EncoderSettings settings{.coding = {.width = kWidth, .height = kHeight, .key_interval = 4}};
  settings.execution.lanes = lanes;
  settings.execution.threads = 2;
  settings.execution.keep_devices = keep;
  return settings;
}

/// Returns a factory for the CPU backend that counts how often a backend is opened.
BackendFactory counting(int& opened) {
  return [&opened](const ResolvedEncode& encode, int max_chains) {
    ++opened;
    return open_cpu_backend(encode, max_chains);
  };
}

void expect_bytes_of_a_new_encoder(Encoder& encoder, const Bytes& video) {
  VideoSource source(video, kWidth, kHeight);
  const Encoded encoded = without_error(encode_source(source, encoder));
  VideoSource again(video, kWidth, kHeight);
  EncoderSettings settings = encoder.settings();
  settings.execution.keep_devices = false;
  const Encoded expected = encode_source(again, settings);
  EXPECT_EQ(encoded.summary.lanes, expected.summary.lanes);
  EXPECT_EQ(encoded.summary.backend, expected.summary.backend);
  EXPECT_EQ(encoded.summary.frames, expected.summary.frames);
  expect_first_frames_of(expected, encoded, expected.frames.size());
}

TEST(KeptDevices, GiveEveryVideoTheBytesOfANewEncoder) {
  for (const Preset preset : {Preset::reference, Preset::fast, Preset::good}) {
    int opened = 0;
    EncoderSettings settings = settings_for(2);
    settings.coding.preset = preset;
    Encoder encoder(settings, counting(opened));
    for (const int frames : {23, 9, 30, 23}) {
      expect_bytes_of_a_new_encoder(encoder, moving_video(kWidth, kHeight, frames, static_cast<std::uint64_t>(frames)));
    }
    EXPECT_EQ(opened, 1);
  }
}

TEST(KeptDevices, AreOpenedAnewForAVideoWithMoreOrFewerGops) {
  int opened = 0;
  Encoder encoder(settings_for(3), counting(opened));
  const auto encode_frames = [&](int frames) {
    expect_bytes_of_a_new_encoder(encoder, moving_video(kWidth, kHeight, frames));
    return opened;
  };
  EXPECT_EQ(encode_frames(8), 1);   // two GOPs in two lanes
  EXPECT_EQ(encode_frames(7), 1);   // two GOPs again
  EXPECT_EQ(encode_frames(20), 2);  // needs three lanes
  EXPECT_EQ(encode_frames(40), 2);
  EXPECT_EQ(encode_frames(4), 3);   // one GOP needs only one lane
}

TEST(KeptDevices, AreNotKeptUnlessAskedFor) {
  int opened = 0;
  Encoder encoder(settings_for(2, false), counting(opened));
  for (int i = 1; i <= 2; ++i) {
    expect_bytes_of_a_new_encoder(encoder, moving_video(kWidth, kHeight, 9));
    EXPECT_EQ(opened, i);
  }
}

TEST(KeptDevices, AreOpenedAnewAfterAFault) {
  int opened = 0;
  Encoder encoder(settings_for(2), [&opened](const ResolvedEncode& encode, int max_chains) -> std::unique_ptr<Backend> {
    if (++opened == 2) return failing_after(3)(encode, max_chains);
    return open_cpu_backend(encode, max_chains);
  });
  const Bytes video = moving_video(kWidth, kHeight, 20);
  expect_bytes_of_a_new_encoder(encoder, video);

  VideoSource broken(video, kWidth, kHeight);  // ends the run with an error, possibly with frames left in its devices
  broken.break_at(6);
  EXPECT_TRUE(encode_source(broken, encoder).error);
  EXPECT_EQ(opened, 1);

  VideoSource source(video, kWidth, kHeight);
  EXPECT_TRUE(encode_source(source, encoder).error) << "the second device fails";
  EXPECT_EQ(opened, 2);
  expect_bytes_of_a_new_encoder(encoder, video);
  EXPECT_EQ(opened, 3);
}

TEST(KeptDevices, TheFallbackIsNotKept) {
  int opened = 0;
  int fell_back = 0;
  Encoder encoder(settings_for(2), [&opened](const ResolvedEncode& encode, int max_chains) -> std::unique_ptr<Backend> {
    if (++opened == 1) return failing_after(3)(encode, max_chains);
    return open_cpu_backend(encode, max_chains);
  });
  encoder.set_fallback(open_cpu_backend, [&](const std::string&) { ++fell_back; });
  for (int i = 0; i < 3; ++i) expect_bytes_of_a_new_encoder(encoder, moving_video(kWidth, kHeight, 20));
  EXPECT_EQ(opened, 2);
  EXPECT_EQ(fell_back, 1);
}

}  // namespace
}  // namespace c63::test::keep_devices_test
