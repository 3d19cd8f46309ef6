// A device must give the same pictures and the same error as the CPU, for any stream. Here the host takes the part of
// the device (support/host_decode_backend.h). tests/cuda_me makes the same test with a GPU.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <semaphore>

#include "c63/joining_device.h"
#include "pipeline/coding.h"
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

/// A device with an error: it rejects frame `index`, although that frame is valid.
class DoubtfulBackend final : public DecodeBackend {
 public:
  explicit DoubtfulBackend(int index) : left_(index) {}
  [[nodiscard]] const std::string& description() const override { return host_.description(); }
  void open(const Geometry& geometry, std::uint64_t memory, ParallelFor parallel_for) override {
    host_.open(geometry, memory, std::move(parallel_for));
  }
  [[nodiscard]] bool has_room() const override { return host_.has_room(); }
  void submit(const FrameToDecode& frame) override { host_.submit(frame); }
  [[nodiscard]] bool is_ready() override { return host_.is_ready(); }
  [[nodiscard]] const FrameOfDevice& front() override { return left_ > 0 ? host_.front() : invalid_; }
  void pop() override {
    --left_;
    host_.pop();
  }
  void clear() noexcept override { host_.clear(); }

 private:
  HostDecodeBackend host_;
  FrameOfDevice invalid_{.is_valid = false, .planes = {}};
  int left_;
};

TEST(DeviceDecode, AValidFrameThatADeviceRejectsIsDecoded) {
  const Bytes stream = encode(moving_video(44, 36, 7), {.coding = {.width = 44, .height = 36, .key_interval = 3}});
  const Decoded decoded = decode_stream(stream, {.device = std::make_shared<DoubtfulBackend>(4)});
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->id(), "C63-DEVICE-DECODE");
  EXPECT_EQ(decoded.error->place().frame, 4);
  EXPECT_EQ(decoded.frames.size(), 4U);
}

/// Returns a joining device that is ready before the first frame is decoded.
std::shared_ptr<JoiningDecoder> joining(const std::shared_ptr<DecodeBackend>& device) {
  constexpr JoiningDecoder::Worth kAlways{.starting_ms = 0, .opening_ms = 0};
  auto decoder = std::make_shared<JoiningDecoder>([device] { return device; }, kAlways);
  decoder->begin();
  static_cast<void>(decoder->wait({}));
  return decoder;
}

TEST(DeviceDecode, ADeviceTakesOverAtAnyKeyFrame) {
  constexpr std::size_t kFrames = 150;  // many more than are submitted before the first one is returned
  const Bytes stream = encode(moving_video(44, 36, kFrames), {.coding = {.width = 44, .height = 36, .key_interval = 3}});
  const DecodeOutcome expected = outcome_of([&](const auto& sink) { static_cast<void>(Decoder().decode_views(stream, sink)); });
  for (const std::size_t after : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 50U, 101U, 149U, 150U}) {
    std::counting_semaphore<> may_join(0);
    DecoderSettings settings;
    settings.execution.threads = 2;
    constexpr JoiningDecoder::Worth kAlways{.starting_ms = 0, .opening_ms = 0};
    settings.joining = std::make_shared<JoiningDecoder>(
        [&] {
          may_join.acquire();
          return host(2);
        },
        kAlways);
    if (after == 0) {
      may_join.release();
      settings.joining->begin();
      static_cast<void>(settings.joining->wait({}));
    }
    DecodeSummary summary;
    std::size_t frames = 0;
    const DecodeOutcome outcome = outcome_of([&](const auto& sink) {
      summary = Decoder(settings).decode_views(stream, [&](const FrameView& view) {
        sink(view);
        if (++frames != after) return;
        may_join.release();
        static_cast<void>(settings.joining->wait({}));
      });
    });
    if (frames < after || after == 0) may_join.release();
    expect_same_outcome(expected, outcome);
    EXPECT_LE(summary.joined_frames, static_cast<std::int64_t>(kFrames - after));
    if (after == 0) {
      EXPECT_EQ(summary.joined_frames, static_cast<std::int64_t>(kFrames));
    } else if (after <= 50) {
      EXPECT_GT(summary.joined_frames, 0);
    }
  }
}

TEST(DeviceDecode, ADeviceThatTakesOverHasTheSameErrors) {
  CompactStreamWriter writer(48, 80, 3);
  writer.add_any(20, 4);
  const Bytes stream = writer.bytes();
  Random random(7);
  for (int round = 0; round < 40; ++round) {
    Bytes changed = stream;
    changed[random.below(static_cast<std::uint32_t>(changed.size()))] ^= static_cast<std::uint8_t>(1 + random.below(255));
    DecoderSettings settings;
    settings.execution.threads = 2;
    const auto decode = [&](const auto& sink) { static_cast<void>(Decoder(settings).decode_views(changed, sink)); };
    const DecodeOutcome expected = outcome_of(decode);
    settings.joining = joining(host(3));
    expect_same_outcome(expected, outcome_of(decode));
  }
}

TEST(DeviceDecode, ADeviceThatCannotBeOpenedDoesNotTakeOver) {
  const Bytes stream = encode(moving_video(44, 36, 17), {.coding = {.width = 44, .height = 36, .key_interval = 3}});
  DecoderSettings settings;
  settings.joining = std::make_shared<JoiningDecoder>(
      []() -> std::shared_ptr<DecodeBackend> { throw Error(ErrorKind::device, "C63-TEST", "no"); },
      JoiningDecoder::Worth{.starting_ms = 0, .opening_ms = 0});
  settings.joining->begin();
  const DecodeSummary summary = Decoder(settings).decode_views(stream, [](const FrameView&) {});
  EXPECT_EQ(summary.frames, 17);
  EXPECT_EQ(summary.joined_frames, 0);
}

}  // namespace
}  // namespace c63::test::device_decode_test
