#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "support/generators.h"
#include "support/sources.h"

namespace c63::test {

/// What a decode handed out before it ended, and why it ended if that was an error.
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

inline Decoded decode_stream(ByteSource& source, const DecoderSettings& settings = {}) {
  Decoded result;
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

/// What an encode handed out before it ended, and why it ended if that was an error.
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

}  // namespace c63::test
