#include "encode/worth_joining.h"

#include <algorithm>

namespace c63 {
namespace {

/// Returns the number of blocks that one of 16 threads encodes in 1 ms with AVX-512 (docs/results/start-h200.json).
double usual_pace(Preset preset) {
  switch (preset) {
    case Preset::reference:
      return 2'200;
    case Preset::fast:
      return 1'300;
    case Preset::good:
      return 460;
    case Preset::best:
      return 190;
  }
  return 2'200;
}

}  // namespace

double TimeLeft::estimate(std::int64_t finished, double elapsed_ms) {
  if (!work_.frames) return elapsed_ms;
  const auto left = static_cast<double>(std::max<std::int64_t>(0, *work_.frames - finished));
  // Measuring begins when the chains have finished two frames each, on average. Until then, much time goes into the
  // look-ahead and into frames that are begun but not finished.
  constexpr std::int64_t kFirstFrames = 2;
  constexpr std::int64_t kMeasuredFrames = 4;
  if (!begin_ && finished >= kFirstFrames * work_.chains) begin_ = {finished, elapsed_ms};
  if (begin_ && finished >= begin_->finished + kMeasuredFrames * work_.chains) {
    return left * (elapsed_ms - begin_->elapsed_ms) / static_cast<double>(finished - begin_->finished);
  }
  return left * static_cast<double>(work_.frame_blocks) / (usual_pace(work_.preset) * work_.threads);
}

}  // namespace c63
