// Tests a GPU that decodes films, as far as that goes without FFmpeg: how pictures leave it, and searches in its memory.

#include "c63/cuda/film_device.h"

#include <vector>

#include "c63/cuda/motion_estimator.h"
#include "cuda_me/backend_test_support.h"
#include "cuda_me/runtime/memory.h"
#include "support/host_film_device.h"
#include "support/motion_definition.h"

namespace c63::cuda {
namespace {

using test::Bytes;

class FilmDeviceTest : public BackendTest {};

TEST_F(FilmDeviceTest, SplitsPicturesToMemoryOfHostAndDevice) {
  const auto device = open_film_device(0);
  for (const auto& [width, height] : {std::pair(80, 48), std::pair(16, 16), std::pair(1026, 34)}) {
    constexpr std::ptrdiff_t kPitch = 1536;
    const Bytes frame = test::moving_video(width, height, 1);
    const auto luma = static_cast<std::size_t>(width * height);
    Bytes decoded(static_cast<std::size_t>(kPitch * (height + height / 2)), 0xCD);
    for (int y = 0; y < height + height / 2; ++y) {
      for (int x = 0; x < width; ++x) {
        const auto chroma = static_cast<std::size_t>((y - height) * (width / 2) + x / 2) + (x % 2 == 0 ? 0 : luma / 4);
        decoded[static_cast<std::size_t>(y * kPitch + x)] =
            frame[y < height ? static_cast<std::size_t>(y * width + x) : luma + chroma];
      }
    }
    const auto memory = device->allocate(decoded.size());
    device->copy({memory.get(), decoded.size()}, decoded);
    EXPECT_TRUE(device->owns(memory.get()));
    EXPECT_FALSE(device->owns(decoded.data()));
    const FilmDevice::Picture picture{memory.get(), memory.get() + kPitch * height, kPitch, kPitch, width, height};
    Bytes on_host(frame.size());
    device->split(picture, on_host, false);
    EXPECT_TRUE(same_bytes(on_host, frame)) << width << "x" << height;
    const auto there = device->allocate(frame.size());
    device->split(picture, {there.get(), frame.size()}, false);
    Bytes back(frame.size());
    device->copy(back, {there.get(), back.size()});
    EXPECT_TRUE(same_bytes(back, frame)) << width << "x" << height;
    Bytes luma_alone(frame.size());
    device->split(picture, luma_alone, true);
    EXPECT_TRUE(same_bytes(Bytes(luma_alone.begin(), luma_alone.begin() + width * height), Bytes(frame.begin(), frame.begin() + width * height)));
  }
}

TEST_F(FilmDeviceTest, PlanesInItsMemoryAreSearchedThere) {
  const auto device = open_film_device(0);
  constexpr int kWidth = 80;
  constexpr int kHeight = 48;
  const Bytes video = test::moving_video(kWidth, kHeight, 2);
  const std::size_t bytes = video.size() / 2;
  const auto memory = device->allocate(bytes);
  device->copy({memory.get(), bytes}, std::span(video).first(bytes));
  const auto view = [](const std::uint8_t* samples) { return ConstPlaneView{samples, kWidth, kHeight, kWidth}; };
  const MotionPair on_host{view(video.data() + bytes), view(video.data())};
  const test::FoundMotion expected = test::defined_motion({&on_host, 1}, {.range = 16}, nullptr);
  const MotionPair pair{on_host.current, view(memory.get())};  // one plane in each memory
  std::vector<MotionVector> vectors(expected.vectors.size());
  std::vector<std::uint16_t> sads(vectors.size());
  MotionEstimator({.width = kWidth, .height = kHeight}).estimate({&pair, 1}, {.vectors = vectors.data(), .sads = sads.data()});
  EXPECT_EQ(vectors, expected.vectors);
}

TEST_F(FilmDeviceTest, FramesInItsMemoryAreEncodedThere) {
  const auto device = open_film_device(0);
  const Bytes video = test::moving_video(80, 48, 50);
  for (const Preset preset : {Preset::reference, Preset::good, Preset::best}) {
    for (const bool scene_cuts : {false, true}) {
      EncoderSettings settings{
          .coding = {.width = 80, .height = 48, .preset = preset, .key_interval = 9, .scene_cuts = scene_cuts}};
      settings.measurement.ssim = true;
      const Encoded expected = on_cpu(settings, video);
      test::DecodedVideo source(video, 80, 48, device);
      expect_same_frames(expected, encode_with(Encoder(settings, make_backend_factories()), source));
      EXPECT_EQ(source.reads_on_device(), scene_cuts ? 0 : 50);
      test::DecodedVideo other(video, 80, 48, device);
      expect_same_frames(expected, encode_with(Encoder(settings), other));
    }
  }
}

}  // namespace
}  // namespace c63::cuda
