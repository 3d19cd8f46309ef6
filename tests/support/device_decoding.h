#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"
#include "support/generators.h"

namespace c63::test {

/// What a decode returned: the samples of all pictures, data of each frame, and the error.
struct DecodeOutcome {
  Bytes samples;
  std::vector<FrameInfo> frames;
  std::string fault;  ///< the error's text with its place; empty if there is none
};

/// Calls `decode` with a sink that keeps all frames. Returns these frames, and the error that `decode` threw, if any.
template <typename Decode>
DecodeOutcome outcome_of(Decode&& decode) {
  DecodeOutcome outcome;
  try {
    decode([&](const FrameView& view) {
      outcome.frames.push_back(view);
      for (const auto& plane : view.picture) outcome.samples.insert(outcome.samples.end(), plane.begin(), plane.end());
    });
  } catch (const Error& error) {
    outcome.fault = error.what();
  }
  return outcome;
}

inline void expect_same_outcome(const DecodeOutcome& expected, const DecodeOutcome& outcome) {
  EXPECT_EQ(outcome.fault, expected.fault);
  EXPECT_TRUE(outcome.samples == expected.samples);
  ASSERT_EQ(outcome.frames.size(), expected.frames.size());
  for (std::size_t i = 0; i < expected.frames.size(); ++i) {
    EXPECT_EQ(outcome.frames[i].index, expected.frames[i].index);
    EXPECT_EQ(outcome.frames[i].key, expected.frames[i].key);
    EXPECT_EQ(outcome.frames[i].repeat, expected.frames[i].repeat);
    EXPECT_EQ(outcome.frames[i].offset, expected.frames[i].offset);
    EXPECT_EQ(outcome.frames[i].coded_bytes, expected.frames[i].coded_bytes);
  }
}

/// Decodes a stream on the CPU and on `device`, and expects the same result. Returns true if the stream is invalid.
inline bool expect_same_decoding(std::span<const std::uint8_t> stream, const std::shared_ptr<DecodeBackend>& device,
                                 DecoderSettings settings = {}) {
  settings.execution.limits.max_pixels = 1 << 22;
  settings.execution.threads = 2;
  const auto decode = [&](const auto& sink) { static_cast<void>(Decoder(settings).decode_views(stream, sink)); };
  const DecodeOutcome expected = outcome_of(decode);
  settings.device = device;
  expect_same_outcome(expected, outcome_of(decode));
  return !expected.fault.empty();
}

/// Calls is_invalid(stream) for damaged streams: in each round one with changed bytes, and one that ends too early.
/// Expects that some are invalid.
template <typename IsInvalid>
void expect_faults_of_damaged(const Bytes& stream, int rounds, IsInvalid&& is_invalid) {
  Random random(stream.size());
  int faults = 0;
  for (int round = 0; round < rounds; ++round) {
    Bytes changed = stream;
    for (std::uint32_t flips = 1 + random.below(4); flips > 0; --flips) {
      changed[random.below(static_cast<std::uint32_t>(changed.size()))] ^= static_cast<std::uint8_t>(1 + random.below(255));
    }
    faults += is_invalid(changed) ? 1 : 0;
    const auto size = random.below(static_cast<std::uint32_t>(stream.size()));
    faults += is_invalid(std::span(stream).first(size)) ? 1 : 0;
  }
  EXPECT_GT(faults, 0);
}

inline void expect_same_decoding_of_damaged(const Bytes& stream, const std::shared_ptr<DecodeBackend>& device, int rounds) {
  expect_faults_of_damaged(stream, rounds, [&](std::span<const std::uint8_t> damaged) { return expect_same_decoding(damaged, device); });
}

/// Expects that `device` decodes the same as the CPU: parts of the stream, only key frames, and single frames in any
/// order.
inline void expect_same_ranges(const Bytes& stream, const std::shared_ptr<DecodeBackend>& device) {
  for (const std::int64_t first : {1, 4, 7}) {
    for (const std::int64_t most : {1, 3, -1}) {
      for (const bool key_frames_only : {false, true}) {
        static_cast<void>(expect_same_decoding(
            stream, device, {.first_frame = first, .max_frames = most, .key_frames_only = key_frames_only}));
      }
    }
  }
  SeekableDecoder cpu(stream);
  SeekableDecoder other(stream, {.device = device});
  const std::int64_t count = cpu.frame_count();
  ASSERT_EQ(other.frame_count(), count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t frame = i * 5 % count;  // forward and back, by less and by more than a GOP
    EXPECT_TRUE(other.frame(frame).picture == cpu.frame(frame).picture) << frame;
  }
}

}  // namespace c63::test
