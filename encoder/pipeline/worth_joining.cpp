#include "pipeline/worth_joining.h"

#include <algorithm>

namespace c63 {

double estimate_time_left(const EncodeProgress& progress) {
  if (!progress.frames) return progress.elapsed_ms;
  const auto left = static_cast<double>(std::max<std::int64_t>(0, *progress.frames - progress.finished));
  // Frames that are being encoded are not counted: of a chain's first ones that would be most of the work.
  constexpr std::int64_t kFramesAChain = 4;
  if (progress.finished >= kFramesAChain * progress.chains) {
    return left * progress.elapsed_ms / static_cast<double>(progress.finished);
  }
  // Preset reference takes about 1,000 clocks a block with AVX-512 (docs/results/cpu-amd-epyc-zen4.json).
  constexpr double kMostBlocksAMillisecond = 8'000;
  return left * static_cast<double>(progress.frame_blocks) / (kMostBlocksAMillisecond * progress.threads);
}

}  // namespace c63
