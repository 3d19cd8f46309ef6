// Decodes any bytes as a whole, in pieces, with every instruction set, with several threads, and frame by frame in two
// ways. The result must be frames and at most one Error. Each way must give the same.

#include <vector>

#include "c63/settings.h"
#include "fuzz_support.h"
#include "support/sources.h"

namespace {

using c63::fuzz::Outcome;
using c63::fuzz::require;

/// The largest stream whose frames are also decoded out of order, in bytes. Decoding one frame means decoding its GOP up
/// to it. A repeat takes only four bytes, so even a small stream may have many frames.
constexpr std::size_t kMostForSeeking = 8 << 10;

c63::DecoderSettings settings_with(int threads, c63::SimdLevel simd) {
  return c63::fuzz::limited({.execution = {.threads = threads, .simd = simd}, .keep_prediction = true, .keep_motion = true});
}

void add_samples(Outcome& outcome, const c63::DecodedFrame& frame) {
  outcome.add(frame.picture);
  outcome.add(frame.prediction);
}

/// Returns the samples of pictures and predictions. Checks each frame and the place of the error.
Outcome decode_with(std::span<const std::uint8_t> stream, const c63::DecoderSettings& settings, std::size_t piece = SIZE_MAX,
                    std::vector<c63::DecodedFrame>* kept = nullptr) {
  Outcome outcome;
  std::int64_t frames = 0;
  c63::test::StreamSource source(stream, piece);
  try {
    c63::Decoder(settings).decode(source, [&](c63::DecodedFrame&& frame) {
      require(frame.picture.size() == c63::frame_bytes(frame.width, frame.height));
      require(frame.offset + frame.coded_bytes <= stream.size());
      add_samples(outcome, frame);
      ++frames;
      if (kept != nullptr) kept->push_back(std::move(frame));
    });
  } catch (const c63::Error& error) {
    require(error.kind() == c63::ErrorKind::input || error.kind() == c63::ErrorKind::limit);
    require(error.place().frame == frames);
    require(error.place().offset && *error.place().offset <= static_cast<std::int64_t>(stream.size()));
    outcome.fault = error.what();
  }
  return outcome;
}

/// Decodes each frame by itself: first all with even numbers, then the others. Returns the samples of the frames up to
/// the first one that gives an error, and that error.
Outcome decode_each(std::span<const std::uint8_t> stream, const c63::DecoderSettings& settings) {
  c63::SeekableDecoder decoder(stream, settings);
  std::vector<Outcome> frames(static_cast<std::size_t>(decoder.frame_count()));
  for (const std::size_t first : {0U, 1U}) {
    for (std::size_t i = first; i < frames.size(); i += 2) {
      frames[i] = c63::fuzz::outcome_of([&](Outcome& own) { add_samples(own, decoder.frame(static_cast<std::int64_t>(i))); });
    }
  }
  Outcome outcome;
  for (const Outcome& frame : frames) {
    outcome.add(frame.samples);
    outcome.fault = frame.fault;
    if (!outcome.fault.empty()) return outcome;
  }
  if (decoder.fault()) outcome.fault = decoder.fault()->what();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span stream(data, size);
  const std::vector<c63::SimdLevel> levels = c63::available_simd_levels();
  std::vector<c63::DecodedFrame> frames;
  const Outcome expected = decode_with(stream, settings_with(1, levels.front()), SIZE_MAX, &frames);
  require(decode_with(stream, settings_with(1, levels.back()), 97) == expected);
  for (const c63::SimdLevel level : levels) require(decode_with(stream, settings_with(1, level)) == expected);
  require(decode_with(stream, settings_with(3, levels.back())) == expected);
  if (stream.size() < kMostForSeeking) require(decode_each(stream, settings_with(2, levels.back())) == expected);

  c63::FrameDecoder decoder(settings_with(1, levels.back()));
  for (const c63::DecodedFrame& frame : frames) {
    const c63::DecodedFrame alone = decoder.decode(stream.subspan(frame.offset, frame.coded_bytes));
    require(alone.picture == frame.picture && alone.prediction == frame.prediction && alone.key == frame.key);
    for (int p = 0; p < 3; ++p) {
      require(alone.motion[p].vectors == frame.motion[p].vectors && alone.motion[p].inter == frame.motion[p].inter);
    }
  }
  return 0;
}
