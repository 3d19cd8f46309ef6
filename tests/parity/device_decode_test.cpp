// A device must give the same pictures and the same error as the CPU, for any stream. Here the host takes the part of
// the device (support/host_decode_backend.h). tests/cuda_me makes the same test with a GPU.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "support/coding.h"
#include "support/compact_stream.h"
#include "support/device_decoding.h"
#include "support/host_decode_backend.h"
#include "support/shared_data.h"

namespace c63::test::device_decode_test {
namespace {

std::shared_ptr<DecodeBackend> host(std::size_t room) { return std::make_shared<HostDecodeBackend>(room); }

void expect_parity_everywhere(const Bytes& stream, int rounds) {
  for (const std::size_t room : {1U, 5U}) EXPECT_FALSE(expect_same_decoding(stream, host(room)));
  expect_same_decoding_of_damaged(stream, host(3), rounds);
  expect_same_ranges(stream, host(4));
}

TEST(DeviceDecode, EncodedStreams) {
  for (const auto& [width, height] : {std::pair{16, 16}, {44, 36}, {176, 144}, {20, 400}}) {
    for (const int range : {16, 127}) {
      EncoderSettings settings{.coding = {.width = width, .height = height, .key_interval = 5, .search_range = range}};
      expect_parity_everywhere(encode(moving_video(width, height, 12), settings), 6);
    }
  }
}

TEST(DeviceDecode, FramesOfEveryKind) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CompactStreamWriter writer(48, 80, seed);
    writer.add_any(20, 4);
    expect_parity_everywhere(writer.bytes(), 10);
  }
}

TEST(DeviceDecode, GoldenStreams) {
  C63_NEEDS_SHARED("golden/static_152x100.c63");
  for (const char* file : {"golden/static_152x100.c63", "golden/people_320x192.c63"}) {
    expect_parity_everywhere(read_bytes(shared_path(file)), 3);
  }
}

TEST(DeviceDecode, EmptyInputAndInvalidStreams) {
  for (const Bytes& stream : {Bytes{}, Bytes{0xFF}, Bytes{0xFF, 0xD8, 0xFF, 0xD9}, Bytes(3000, 'x')}) {
    static_cast<void>(expect_same_decoding(stream, host(2)));
  }
}

TEST(DeviceDecode, ADeviceStaysOpenForTheNextDecoder) {
  const auto device = std::make_shared<HostDecodeBackend>();
  const Bytes stream = encode(moving_video(44, 36, 7), {.coding = {.width = 44, .height = 36, .key_interval = 3}});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(expect_same_decoding(stream, device));
  EXPECT_EQ(device->opened(), 3);
}

TEST(DeviceDecode, AStopEndsIt) {
  const Bytes stream = encode(moving_video(44, 36, 12), {.coding = {.width = 44, .height = 36, .key_interval = 3}});
  std::stop_source stop;
  int frames = 0;
  const DecodeSummary summary = Decoder({.device = host(4)}).decode_views(
      stream, [&](const FrameView&) { if (++frames == 5) stop.request_stop(); }, stop.get_token());
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(frames, 5);
}

TEST(DeviceDecode, PredictionsAndVectorsAreRefused) {
  const Bytes stream = encode(moving_video(16, 16, 2), {.coding = {.width = 16, .height = 16}});
  for (const bool prediction : {true, false}) {
    const Decoded decoded = decode_stream(stream, {.keep_prediction = prediction, .keep_motion = !prediction, .device = host(2)});
    ASSERT_TRUE(decoded.error);
    EXPECT_EQ(decoded.error->id(), "C63-DEVICE-KEEP");
    EXPECT_EQ(decoded.error->kind(), ErrorKind::device);
  }
}

TEST(DeviceDecode, AValidFrameThatADeviceRejectsIsDecoded) {
  const Bytes stream = encode(moving_video(44, 36, 7), {.coding = {.width = 44, .height = 36, .key_interval = 3}});
  const Decoded decoded = decode_stream(stream, {.device = std::make_shared<HostDecodeBackend>(5, 4)});
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->id(), "C63-DEVICE-DECODE");
  EXPECT_EQ(decoded.error->place().frame, 4);
  EXPECT_EQ(decoded.frames.size(), 4U);
}

}  // namespace
}  // namespace c63::test::device_decode_test
