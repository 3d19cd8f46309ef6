// Decodes any bytes as a whole, in pieces, and frame by frame. The result must be frames and at most one Error. Each
// way must give the same.

#include "fuzz_support.h"
#include "support/sources.h"

namespace {

using c63::fuzz::require;

struct WholeOutcome {
  std::vector<c63::DecodedFrame> frames;
  std::string fault;
};

WholeOutcome decode_with(std::span<const std::uint8_t> stream, const c63::DecoderSettings& settings,
                         std::size_t piece) {
  WholeOutcome outcome;
  c63::test::StreamSource source(stream, piece);
  try {
    c63::Decoder(settings).decode(source, [&](c63::DecodedFrame&& frame) {
      require(frame.picture.size() == c63::frame_bytes(frame.width, frame.height));
      require(frame.offset + frame.coded_bytes <= stream.size());
      outcome.frames.push_back(std::move(frame));
    });
  } catch (const c63::Error& error) {
    require(error.kind() == c63::ErrorKind::input || error.kind() == c63::ErrorKind::limit);
    require(error.place().frame == static_cast<std::int64_t>(outcome.frames.size()));
    require(error.place().offset && *error.place().offset <= static_cast<std::int64_t>(stream.size()));
    outcome.fault = error.what();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span stream(data, size);
  const auto settings = c63::fuzz::limited({.execution = {.threads = 1}, .keep_prediction = true, .keep_motion = true});
  const WholeOutcome whole = decode_with(stream, settings, SIZE_MAX);

  // Reading the stream in small pieces must give the same result.
  const WholeOutcome pieces = decode_with(stream, settings, 97);
  require(pieces.fault == whole.fault && pieces.frames.size() == whole.frames.size());

  // Decoding frame by frame must give the same result.
  c63::FrameDecoder decoder(settings);
  for (const c63::DecodedFrame& frame : whole.frames) {
    const c63::DecodedFrame alone = decoder.decode(stream.subspan(frame.offset, frame.coded_bytes));
    require(alone.picture == frame.picture && alone.prediction == frame.prediction && alone.key == frame.key);
    for (int p = 0; p < 3; ++p) {
      require(alone.motion[p].vectors == frame.motion[p].vectors && alone.motion[p].inter == frame.motion[p].inter);
    }
  }
  return 0;
}
