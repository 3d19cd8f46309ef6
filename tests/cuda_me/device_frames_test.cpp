// Tests encodes of frames that are already in GPU memory, so that they need not be uploaded.

#include "c63/cuda/device_frames.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "cuda_me/backend_test_support.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "support/expect_error.h"

namespace c63::cuda {
namespace {

using test::Bytes;

class DeviceFramesTest : public BackendTest {};

DeviceBuffer<std::uint8_t> to_device(const Bytes& video) {
  DeviceBuffer<std::uint8_t> memory(video.size());
  const Stream stream;
  copy_async(memory.data(), video.data(), video.size(), stream);
  stream.synchronize();
  return memory;
}

TEST_F(DeviceFramesTest, GiveTheBytesOfFramesOnTheHost) {
  for (const auto& [width, height] : {std::pair(80, 48), std::pair(16, 16), std::pair(36, 29), std::pair(20, 13)}) {
    const Bytes video = test::moving_video(width, height, 50);
    const DeviceBuffer<std::uint8_t> memory = to_device(video);
    for (const Preset preset : {Preset::reference, Preset::fast}) {
      for (const int lanes : {0, 1, 3}) {
        EncoderSettings settings{.coding = {.width = width, .height = height, .preset = preset, .key_interval = 9}};
        settings.execution.lanes = lanes;
        settings.measurement.keep_reconstruction = settings.measurement.ssim = true;
        const Encoded expected = on_cpu(settings, video);
        DeviceFrames source(memory.span(), {width, height, {}});
        expect_same_frames(expected, encode_with(Encoder(settings, make_backend_factories()), source));
      }
    }
  }
}

TEST_F(DeviceFramesTest, AreCopiedToTheHostForDevicesThatCannotTakeThem) {
  const Bytes video = test::moving_video(80, 48, 30);
  const DeviceBuffer<std::uint8_t> memory = to_device(video);
  EncoderSettings settings{.coding = {.width = 80, .height = 48, .key_interval = 7, .scene_cuts = true}};
  const Bytes expected = on_cpu(settings, video).stream();
  DeviceFrames source(memory.span(), {80, 48, {}});
  EXPECT_TRUE(same_bytes(expected, encode_with(Encoder(settings), source).stream()));
  EXPECT_TRUE(same_bytes(expected, encode_with(Encoder(settings, make_backend_factories()), source).stream()));
}

TEST_F(DeviceFramesTest, PlanesWithGapsArePacked) {
  constexpr int kFrames = 11;
  constexpr std::ptrdiff_t kPitch = 101;
  const Bytes video = test::moving_video(80, 48, kFrames);
  const EncoderSettings settings{.coding = {.width = 80, .height = 48, .key_interval = 4}};
  const Bytes expected = on_cpu(settings, video).stream();
  // Each plane has its own buffer. Its rows begin 101 bytes apart, and bytes of other content fill the gaps. Between
  // two frames there is one unused row.
  std::array<Bytes, 3> host;
  std::array<DeviceBuffer<std::uint8_t>, 3> memory;
  std::array<DevicePlane, 3> planes;
  for (std::size_t p = 0; p < 3; ++p) {
    const int width = p == 0 ? 80 : 40;
    const int height = p == 0 ? 48 : 24;
    host[p].assign(static_cast<std::size_t>(kPitch * (height + 1) * kFrames), 0xA5);
    for (int i = 0; i < kFrames; ++i) {
      const auto frame = std::span(video).subspan(static_cast<std::size_t>(i) * frame_bytes(80, 48), frame_bytes(80, 48));
      const auto plane = split_planes(frame, 80, 48)[p];
      for (int y = 0; y < height; ++y) {
        std::copy_n(plane.begin() + y * width, width, host[p].begin() + (i * (height + 1) + y) * kPitch);
      }
    }
    memory[p] = to_device(host[p]);
    planes[p] = {memory[p].data(), kPitch * (height + 1), kPitch};
  }
  DeviceFrames source(planes, kFrames, {80, 48, {}});
  EXPECT_TRUE(same_bytes(expected, encode_with(Encoder(settings, make_backend_factories()), source).stream()));
}

TEST_F(DeviceFramesTest, AreWaitedForOnTheirStream) {
  const Bytes video = test::moving_video(80, 48, 20);
  const EncoderSettings settings{.coding = {.width = 80, .height = 48, .key_interval = 5}};
  const Bytes expected = on_cpu(settings, video).stream();
  PinnedBuffer<std::uint8_t> host(video.size());
  std::ranges::copy(video, host.data());
  DeviceBuffer<std::uint8_t> memory = to_device(Bytes(video.size(), 0xA5));
  const Stream stream;
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  check(cudaLaunchHostFunc(stream, sleep, nullptr), "cudaLaunchHostFunc");
  copy_async(memory.data(), host.data(), host.size(), stream);
  DeviceFrames source(memory.span(), {80, 48, {}}, stream.get());
  EXPECT_TRUE(same_bytes(expected, encode_with(Encoder(settings, make_backend_factories()), source).stream()));
}

TEST_F(DeviceFramesTest, OtherMemoryAndPartsOfFramesAreRefused) {
  const Bytes video = test::moving_video(80, 48, 2);
  const DeviceBuffer<std::uint8_t> memory = to_device(video);
  const auto refused = [](ErrorKind kind, const std::string& id, const auto&... arguments) {
    test::expect_error(kind, id, [&] { const DeviceFrames source(arguments...); });
  };
  const VideoFormat format{80, 48, {}};
  refused(ErrorKind::usage, "C63-DEVICE-MEMORY", std::span<const std::uint8_t>(video), format);
  refused(ErrorKind::input, "C63-PARTIAL-FRAME", std::span<const std::uint8_t>(memory.span()).first(5000), format);
  const std::array<DevicePlane, 3> planes = {DevicePlane{memory.data(), 0, 80}, DevicePlane{video.data(), 0, 40},
                                             DevicePlane{memory.data(), 0, 40}};
  refused(ErrorKind::usage, "C63-DEVICE-MEMORY", planes, 1, format);
  refused(ErrorKind::usage, "C63-DEVICE-FRAMES", planes, 1, VideoFormat{81, 48, {}});
}

TEST_F(DeviceFramesTest, EndWithTheVideo) {
  const Bytes video = test::moving_video(80, 48, 2);
  const DeviceBuffer<std::uint8_t> memory = to_device(video);
  DeviceFrames source(memory.span(), {80, 48, {}});
  EXPECT_EQ(source.frame_count(), 2);
  Bytes frame(frame_bytes(80, 48), 0xA5);
  EXPECT_TRUE(source.read(1, frame));
  EXPECT_TRUE(std::ranges::equal(frame, std::span(video).subspan(frame.size())));
  EXPECT_FALSE(source.read(2, frame));
  EXPECT_FALSE(source.read(-1, frame));
  EXPECT_TRUE(source.in_place(2).empty());
}

TEST_F(DeviceFramesTest, CopiesWithinTheDeviceTakeAnyPlaceAndSize) {
  constexpr std::size_t kRoom = 70'000;
  constexpr std::array<std::size_t, 9> kSizes = {0, 1, 15, 16, 17, 255, 4096, 4097, 65'536};
  test::Random random(7);
  Bytes from(kRoom);
  for (std::uint8_t& byte : from) byte = static_cast<std::uint8_t>(random.next());
  // One launch of the kernel cannot make 300 copies, so several are needed. Every second copy is aligned.
  constexpr std::size_t kCopies = 300;
  Bytes expected(kCopies * kRoom, 0xA5);
  const DeviceBuffer<std::uint8_t> source = to_device(from);
  const DeviceBuffer<std::uint8_t> target = to_device(expected);
  std::vector<DeviceCopy> copies;
  for (std::size_t i = 0; i < kCopies; ++i) {
    const std::size_t bytes = kSizes[i / 2 % kSizes.size()];
    const std::size_t at = i % 2 == 0 ? 0 : 1 + random.below(40);
    const std::size_t to = i * kRoom + (i % 2 == 0 ? 16 : random.below(40));
    copies.push_back({target.data() + to, source.data() + at, bytes});
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), bytes, expected.begin() + static_cast<std::ptrdiff_t>(to));
  }
  const Stream stream;
  enqueue_copies(copies, stream);
  Bytes found(expected.size());
  copy_async(found.data(), target.data(), found.size(), stream);
  stream.synchronize();
  EXPECT_TRUE(found == expected);
}

}  // namespace
}  // namespace c63::cuda
