// Decodes streams on a GPU, valid and invalid ones. Pictures and errors must be those of the CPU.

#include <memory>

#include "backend_test_support.h"
#include "c63/cuda/decoder.h"
#include "c63/error.h"
#include "cuda_me/decoder/cuda_decoder.h"
#include "cuda_me/runtime/memory.h"
#include "support/compact_stream.h"
#include "support/device_decoding.h"
#include "support/shared_data.h"

namespace c63::cuda {
namespace {

using test::Bytes;

class DecodeTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (!IsSkipped()) device_ = open_decoder();
  }

  void expect_parity(const Bytes& stream, int rounds) {
    EXPECT_FALSE(test::expect_same_decoding(stream, device_));
    test::expect_same_decoding_of_damaged(stream, device_, rounds);
    test::expect_same_ranges(stream, device_);
  }

  std::shared_ptr<DecodeBackend> device_;
};

TEST_F(DecodeTest, GivesThePicturesOfTheCpu) {
  for (const auto& [width, height] : {std::pair(16, 16), std::pair(44, 36), std::pair(176, 144), std::pair(20, 400)}) {
    for (const int range : {16, 127}) {
      const EncoderSettings settings{.coding = {.width = width, .height = height, .key_interval = 5, .search_range = range}};
      expect_parity(on_cpu(settings, test::moving_video(width, height, 12)).stream(), 6);
    }
  }
}

TEST_F(DecodeTest, FramesOfEveryKindSmallForSanitizers) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    test::CompactStreamWriter writer(48, 80, seed);
    writer.add_any(20, 4);
    expect_parity(writer.bytes(), 10);
  }
}

TEST_F(DecodeTest, LevelsThatNoEncoderWrites) {
  // With large levels and steps, residuals no longer fit in 16 bits and wrap.
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Geometry geometry(64, 48);
    QuantizationTables tables;
    for (auto& table : tables) table.fill(static_cast<std::uint8_t>(seed % 2 == 0 ? 255 : 1 + 31 * seed % 255));
    Bytes stream;
    for (int frame = 0; frame < 6; ++frame) {
      write_frame_header(stream, geometry, tables, frame == 0);
      BitCounts bits;
      encode_scan(test::random_syntax(geometry, frame == 0, seed > 4 ? 64 : 3, 1023, seed * 100 + static_cast<std::uint64_t>(frame)), stream, bits);
      write_frame_trailer(stream);
    }
    EXPECT_FALSE(test::expect_same_decoding(stream, device_));
  }
}

TEST_F(DecodeTest, MoreFramesThanAreInWork) {
  // The decoder works on several groups of frames at the same time. These frames fill all groups several times. They
  // include repeats, and scans of very different lengths.
  test::CompactStreamWriter writer(64, 32, 5);
  writer.add_any(2500, 30);
  EXPECT_FALSE(test::expect_same_decoding(writer.bytes(), device_));
}

TEST_F(DecodeTest, LittleMemoryMakesFewerFramesInWork) {
  test::CompactStreamWriter writer(176, 144, 6);
  writer.add_any(60, 12);
  const Bytes stream = writer.bytes();
  for (const std::uint64_t memory : {std::uint64_t{1} << 20, std::uint64_t{2} << 20, std::uint64_t{6} << 20}) {
    DecoderSettings settings;
    settings.execution.limits.max_memory = memory;
    EXPECT_FALSE(test::expect_same_decoding(stream, device_, settings)) << memory;
  }
  DecoderSettings settings{.device = device_};
  settings.execution.limits.max_memory = 300'000;
  const test::DecodeOutcome outcome = test::outcome_of([&](const auto& sink) { Decoder(settings).decode_views(stream, sink); });
  EXPECT_NE(outcome.fault.find("C63-MAX-MEMORY"), std::string::npos) << outcome.fault;
}

TEST_F(DecodeTest, ViewsShowPageLockedMemory) {
  const Bytes stream = on_cpu({.coding = {.width = 80, .height = 48}}, test::moving_video(80, 48, 3)).stream();
  int frames = 0;
  Decoder({.device = device_}).decode_views(stream, [&](const FrameView& view) {
    for (const auto& plane : view.picture) EXPECT_TRUE(is_page_locked(plane));
    ++frames;
  });
  EXPECT_EQ(frames, 3);
}

TEST_F(DecodeTest, GoldenStreams) {
  C63_NEEDS_SHARED("golden/foreman_352x288.c63");
  EXPECT_FALSE(test::expect_same_decoding(test::read_bytes(test::shared_path("golden/foreman_352x288.c63")), device_));
  for (const char* file : {"golden/static_152x100.c63", "golden/people_320x192.c63"}) {
    expect_parity(test::read_bytes(test::shared_path(file)), 5);
  }
}

TEST(DecoderRoomTest, MemoryIsWhatFits) {
  for (const auto& [width, height] : {std::pair(16, 16), std::pair(1920, 1080), std::pair(7680, 4320)}) {
    const Geometry geometry(width, height);
    for (std::uint64_t memory = 1 << 16; memory <= std::uint64_t{16} << 30; memory *= 3) {
      const std::optional<DecoderRoom> room = DecoderRoom::within(memory, geometry);
      if (!room) continue;
      EXPECT_GE(room->groups * room->frames, 1);
      EXPECT_GE(room->slots, 1);
      const auto blocks = static_cast<std::uint64_t>(geometry.blocks());
      const std::uint64_t taken = static_cast<std::uint64_t>(room->groups * room->frames) * blocks * 130 +
                                  static_cast<std::uint64_t>(room->slots) * (geometry.padded_samples() + geometry.frame_bytes()) +
                                  6 * room->scan_bytes;
      EXPECT_LE(taken, memory);
    }
  }
}

}  // namespace
}  // namespace c63::cuda
