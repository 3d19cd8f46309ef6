// Any bytes decode to the same frames and the same Error with every instruction set and any number of threads.

#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"
#include "c63/settings.h"
#include "fuzz_support.h"

namespace {

struct Outcome {
  std::vector<std::uint8_t> samples;  ///< of pictures and predictions
  std::string fault;
  bool operator==(const Outcome&) const = default;
};

Outcome decode_with(std::span<const std::uint8_t> stream, c63::SimdLevel simd, int threads) {
  c63::DecoderSettings settings{.execution = {.threads = threads, .simd = simd}, .keep_prediction = true};
  settings.execution.limits.max_pixels = 128 * 128;
  settings.execution.limits.max_memory = 64 << 20;
  Outcome outcome;
  try {
    c63::Decoder(settings).decode(stream, [&](c63::DecodedFrame&& frame) {
      outcome.samples.insert(outcome.samples.end(), frame.picture.begin(), frame.picture.end());
      outcome.samples.insert(outcome.samples.end(), frame.prediction.begin(), frame.prediction.end());
    });
  } catch (const c63::Error& error) {
    outcome.fault = error.what();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span stream(data, size);
  const std::vector<c63::SimdLevel> levels = c63::available_simd_levels();
  const Outcome expected = decode_with(stream, levels.front(), 1);
  for (const c63::SimdLevel level : levels) c63::fuzz::require(decode_with(stream, level, 1) == expected);
  c63::fuzz::require(decode_with(stream, levels.back(), 3) == expected);
  return 0;
}
