#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "c63/thread_pool.h"
#include "support/generators.h"
#include "support/sources.h"

namespace c63::test {

/// The frames that a decode returned, and the error that ended it, if any.
struct Decoded {
  std::vector<DecodedFrame> frames;
  DecodeSummary summary;
  std::optional<Error> error;

  [[nodiscard]] Bytes pictures() const {
    Bytes all;
    for (const DecodedFrame& frame : frames) all.insert(all.end(), frame.picture.begin(), frame.picture.end());
    return all;
  }
};

/// Returns what an encode or a decode returned. Throws its error.
template <typename Run>
[[nodiscard]] Run without_error(Run run) {
  if (run.error) throw Error(*run.error);
  return run;
}

/// Expects that an encode or a decode ended with this error. If it had none, the test ends.
template <typename Run>
void expect_failed(const Run& run, ErrorKind kind, const std::string& id) {
  EXPECT_EQ(run.error.value().id(), id) << run.error->what();
  EXPECT_EQ(run.error->kind(), kind) << run.error->what();
}

/// Returns a pool with this many threads, even if the machine has fewer CPUs. The pool that a decoder makes itself
/// never has more threads than there are CPUs.
inline std::shared_ptr<ThreadPool> pool_with(int threads) { return std::make_shared<ThreadPool>(threads); }

inline Decoded decode_stream(ByteSource& source, DecoderSettings settings = {}) {
  Decoded result;
  if (settings.execution.threads > 1 && !settings.execution.pool) {
    settings.execution.pool = pool_with(std::exchange(settings.execution.threads, 0));
  }
  try {
    result.summary =
        Decoder(settings).decode(source, [&](DecodedFrame&& frame) { result.frames.push_back(std::move(frame)); });
  } catch (const Error& error) {
    result.error = error;
  }
  return result;
}

inline Decoded decode_stream(std::span<const std::uint8_t> stream, const DecoderSettings& settings = {}) {
  StreamSource source(stream);
  return decode_stream(source, settings);
}

/// The frames that an encode returned, and the error that ended it, if any.
struct Encoded {
  std::vector<EncodedFrame> frames;
  EncodeSummary summary;
  std::optional<Error> error;

  [[nodiscard]] Bytes stream() const {
    Bytes all;
    for (const EncodedFrame& frame : frames) all.insert(all.end(), frame.bytes.begin(), frame.bytes.end());
    return all;
  }
  [[nodiscard]] Bytes reconstructions() const {
    Bytes all;
    for (const EncodedFrame& frame : frames) {
      all.insert(all.end(), frame.reconstruction.begin(), frame.reconstruction.end());
    }
    return all;
  }
};

inline Encoded encode_source(FrameSource& source, Encoder& encoder) {
  Encoded result;
  try {
    result.summary = encoder.encode(source, [&](EncodedFrame&& frame) { result.frames.push_back(std::move(frame)); });
  } catch (const Error& error) {
    result.error = error;
  }
  return result;
}

inline Encoded encode_source(FrameSource& source, const EncoderSettings& settings) {
  Encoder encoder(settings);
  return encode_source(source, encoder);
}

/// Encodes, and requests a stop when `frames` coded frames have been returned. Frames that devices already work on may
/// still follow.
inline Encoded encode_and_stop_after(std::size_t frames, FrameSource& source, Encoder& encoder) {
  std::stop_source stop;
  Encoded result;
  result.summary = encoder.encode(
      source,
      [&](EncodedFrame&& frame) {
        result.frames.push_back(std::move(frame));
        if (result.frames.size() == frames) stop.request_stop();
      },
      stop.get_token());
  return result;
}

/// Expects that `encoded` has exactly `count` frames, and that these are the first frames of `whole`.
inline void expect_first_frames_of(const Encoded& whole, const Encoded& encoded, std::size_t count) {
  ASSERT_EQ(encoded.frames.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(encoded.frames[i].index, static_cast<std::int64_t>(i));
    EXPECT_EQ(encoded.frames[i].key, whole.frames[i].key) << i;
    EXPECT_EQ(encoded.frames[i].bytes, whole.frames[i].bytes) << i;
  }
}

/// Expects that `encoded` has all frames of `whole` before frame `broken`, and ended with the error that the source
/// threw at that frame.
inline void expect_frames_before_break(const Encoded& whole, const Encoded& encoded, int broken) {
  expect_failed(encoded, ErrorKind::input, "TEST-BROKEN");
  EXPECT_EQ(encoded.error->place().frame, broken);
  expect_first_frames_of(whole, encoded, static_cast<std::size_t>(broken));
}

}  // namespace c63::test
