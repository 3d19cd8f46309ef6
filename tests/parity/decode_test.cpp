// Decodes whole, changed and cut streams. Pictures and errors must be the same with every instruction set, any number of
// threads, and on a device. Here the host takes the part of the device (support/host_decode_backend.h); tests/cuda_me
// makes the same test with a GPU.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "support/coding.h"
#include "support/compact_stream.h"
#include "support/device_decoding.h"
#include "support/host_decode_backend.h"
#include "support/shared_data.h"

namespace c63::test::decode_test {
namespace {

using StreamTest = void (*)(const Bytes& stream, int rounds);  ///< also tests damaged streams, two in each round

void with_made_streams(StreamTest test) {
  for (const auto& [width, height] : {std::pair{16, 16}, {44, 36}, {112, 80}, {20, 240}}) {
    for (const int range : {16, 127}) {
      EncoderSettings settings{.coding = {.width = width, .height = height, .key_interval = 5, .search_range = range}};
      test(encode(moving_video(width, height, 12), settings), 4);
    }
  }
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CompactStreamWriter writer(48, 80, seed);
    writer.add_any(20, 4);
    test(writer.bytes(), 6);
  }
}

void with_golden_streams(StreamTest test) {
  C63_NEEDS_SHARED("golden/static_152x100.c63");
  for (const char* file : {"golden/static_152x100.c63", "golden/people_320x192.c63"}) test(read_bytes(shared_path(file)), 2);
}

struct Outcome {
  Bytes samples;  ///< of pictures and predictions
  std::string fault;
};

Outcome decode_with(std::span<const std::uint8_t> stream, SimdLevel level, int threads) {
  DecoderSettings settings{.execution = {.pool = pool_with(threads), .simd = level}, .keep_prediction = true};
  settings.execution.limits.max_pixels = 1 << 20;
  Outcome outcome;
  try {
    Decoder(settings).decode_views(stream, [&](const FrameView& view) {
      for (const auto& planes : {view.picture, view.prediction}) {
        for (const auto& plane : planes) outcome.samples.insert(outcome.samples.end(), plane.begin(), plane.end());
      }
    });
  } catch (const Error& error) {
    outcome.fault = error.what();
  }
  return outcome;
}

/// Decodes a stream with every instruction set and several numbers of threads. Returns true if the stream is invalid.
bool expect_parity(std::span<const std::uint8_t> stream) {
  const Outcome expected = decode_with(stream, SimdLevel::scalar, 1);
  const auto levels = available_simd_levels();
  const auto expect_same = [&](SimdLevel level, int threads) {
    const Outcome outcome = decode_with(stream, level, threads);
    EXPECT_EQ(outcome.fault, expected.fault) << name(level) << " " << threads;
    EXPECT_TRUE(outcome.samples == expected.samples) << name(level) << " " << threads;
  };
  for (const SimdLevel level : levels) expect_same(level, level == levels.back() ? 1 : 2);
  for (const int threads : {2, 3, 8}) expect_same(levels.back(), threads);
  return !expected.fault.empty();
}

void expect_parity_of_damaged(const Bytes& stream, int rounds) {
  EXPECT_FALSE(expect_parity(stream));
  expect_faults_of_damaged(stream, rounds, expect_parity);
}

TEST(DecodeParity, MadeStreams) { with_made_streams(expect_parity_of_damaged); }
TEST(DecodeParity, GoldenStreams) { with_golden_streams(expect_parity_of_damaged); }

std::shared_ptr<DecodeBackend> host(std::size_t room) { return std::make_shared<HostDecodeBackend>(room); }

void expect_same_on_device(const Bytes& stream, int rounds) {
  for (const std::size_t room : {1U, 5U}) EXPECT_FALSE(expect_same_decoding(stream, host(room)));
  expect_same_decoding_of_damaged(stream, host(3), rounds);
  expect_same_ranges(stream, host(4));
}

TEST(DeviceDecode, MadeStreams) { with_made_streams(expect_same_on_device); }
TEST(DeviceDecode, GoldenStreams) { with_golden_streams(expect_same_on_device); }

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
    expect_failed(decoded, ErrorKind::device, "C63-DEVICE-KEEP");
  }
}

TEST(DeviceDecode, AValidFrameThatADeviceRejectsIsDecoded) {
  const Bytes stream = encode(moving_video(44, 36, 7), {.coding = {.width = 44, .height = 36, .key_interval = 3}});
  const Decoded decoded = decode_stream(stream, {.device = std::make_shared<HostDecodeBackend>(5, 4)});
  expect_failed(decoded, ErrorKind::device, "C63-DEVICE-DECODE");
  EXPECT_EQ(decoded.error->place().frame, 4);
  EXPECT_EQ(decoded.frames.size(), 4U);
}

}  // namespace
}  // namespace c63::test::decode_test
