// Decodes whole, changed and cut streams. Pictures and errors must be the same with every instruction set and any
// number of threads.

#include <gtest/gtest.h>

#include "support/coding.h"
#include "support/compact_stream.h"
#include "support/shared_data.h"

namespace c63::test::decode_test {
namespace {

struct Outcome {
  Bytes samples;  ///< of pictures and predictions
  std::string fault;
};

Outcome decode_with(std::span<const std::uint8_t> stream, SimdLevel level, int threads) {
  DecoderSettings settings{.execution = {.arena = arena_with(threads), .simd = level}, .keep_prediction = true};
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

/// Decodes a stream in all these ways and compares the results. Returns true if the stream is invalid.
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

Bytes mutated(Bytes stream, Random& random) {
  const std::uint32_t flips = 1 + random.below(4);
  for (std::uint32_t i = 0; i < flips; ++i) {
    stream[random.below(static_cast<std::uint32_t>(stream.size()))] ^= static_cast<std::uint8_t>(1 + random.below(255));
  }
  return stream;
}

void expect_parity_of_damaged(const Bytes& stream, int rounds) {
  Random random(stream.size());
  int faults = 0;
  for (int round = 0; round < rounds; ++round) {
    faults += expect_parity(mutated(stream, random)) ? 1 : 0;
    const auto size = random.below(static_cast<std::uint32_t>(stream.size()));
    faults += expect_parity(std::span(stream).first(size)) ? 1 : 0;
  }
  EXPECT_GT(faults, 0);
}

TEST(DecodeParity, EncodedStreams) {
  for (const auto& [width, height] : {std::pair{16, 16}, {44, 36}, {176, 144}, {20, 400}}) {
    for (const int range : {16, 127}) {
      EncoderSettings settings{.coding = {.width = width, .height = height, .key_interval = 5, .search_range = range}};
      const Bytes stream = encode(moving_video(width, height, 12), settings);
      EXPECT_FALSE(expect_parity(stream));
      expect_parity_of_damaged(stream, 6);
    }
  }
}

TEST(DecodeParity, FramesOfEveryKind) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CompactStreamWriter writer(48, 80, seed);
    writer.add_any(20, 4);
    const Bytes stream = writer.bytes();
    EXPECT_FALSE(expect_parity(stream));
    expect_parity_of_damaged(stream, 6);
  }
}

TEST(DecodeParity, GoldenStreams) {
  C63_NEEDS_SHARED("golden/static_152x100.c63");
  for (const char* file : {"golden/static_152x100.c63", "golden/people_320x192.c63"}) {
    const Bytes stream = read_bytes(shared_path(file));
    EXPECT_FALSE(expect_parity(stream));
    expect_parity_of_damaged(stream, 3);
  }
}

}  // namespace
}  // namespace c63::test::decode_test
