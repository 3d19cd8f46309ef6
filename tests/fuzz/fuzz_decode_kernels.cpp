// Decodes any bytes with every instruction set, with several numbers of threads, and frame by frame in another order.
// All must give the same frames and the same Error.

#include <string>
#include <vector>

#include "c63/settings.h"
#include "fuzz_support.h"

namespace {

/// The largest stream whose frames are also decoded one by one, in bytes. Decoding one frame means decoding its GOP up
/// to it. A repeat takes only four bytes, so even a small stream may have many frames.
constexpr std::size_t kMostForSeeking = 8 << 10;

using c63::fuzz::Outcome;

/// Returns the samples of pictures and predictions.
Outcome decode_with(std::span<const std::uint8_t> stream, c63::SimdLevel simd, int threads) {
  const auto settings = c63::fuzz::limited({.execution = {.threads = threads, .simd = simd}, .keep_prediction = true});
  return c63::fuzz::outcome_of([&](Outcome& outcome) {
    c63::Decoder(settings).decode(stream, [&](c63::DecodedFrame&& frame) {
      outcome.add(frame.picture);
      outcome.add(frame.prediction);
    });
  });
}

/// Decodes each frame by itself: first all with even numbers, then the others. Returns the samples of the frames up to
/// the first one that gives an error, and that error.
Outcome decode_each(std::span<const std::uint8_t> stream) {
  c63::SeekableDecoder decoder(stream, c63::fuzz::limited({.execution = {.threads = 2}, .keep_prediction = true}));
  std::vector<Outcome> frames(static_cast<std::size_t>(decoder.frame_count()));
  for (const std::size_t first : {0U, 1U}) {
    for (std::size_t i = first; i < frames.size(); i += 2) {
      frames[i] = c63::fuzz::outcome_of([&](Outcome& own) {
        const c63::DecodedFrame frame = decoder.frame(static_cast<std::int64_t>(i));
        own.add(frame.picture);
        own.add(frame.prediction);
      });
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
  const Outcome expected = decode_with(stream, levels.front(), 1);
  for (const c63::SimdLevel level : levels) c63::fuzz::require(decode_with(stream, level, 1) == expected);
  c63::fuzz::require(decode_with(stream, levels.back(), 3) == expected);
  if (stream.size() < kMostForSeeking) c63::fuzz::require(decode_each(stream) == expected);
  return 0;
}
