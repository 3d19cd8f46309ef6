#include "decide/reference_choice.h"

#include <algorithm>

namespace c63 {
namespace {

/// Returns how unequal the errors of a frame's blocks are: the logarithm of the mean error, less the mean of the
/// logarithms, times the number of blocks. Noise has about the same error everywhere. If a part of the picture stands
/// still, moves, or is new, the errors differ.
std::int64_t spread(const MotionTotals& motion, Cost lambda) {
  const auto mean = static_cast<std::uint32_t>(motion.squared_error / motion.blocks);
  const std::int64_t mean_logarithm = error_logarithm(mean, least_coded_error(lambda));
  return mean_logarithm * static_cast<std::int64_t>(motion.blocks) - static_cast<std::int64_t>(motion.logarithms);
}

}  // namespace

MotionTotals totals_of(const SourceMotion& motion, Cost lambda) {
  MotionTotals totals{.blocks = motion.size()};
  for (const SourceBlock& block : motion) {
    totals.logarithms += static_cast<std::uint64_t>(error_logarithm(block.squared_error, least_coded_error(lambda)));
    totals.squared_error += block.squared_error;
  }
  return totals;
}

std::int64_t new_content(const MotionTotals& motion, Cost lambda) {
  return static_cast<std::int64_t>(motion.logarithms) -
         static_cast<std::int64_t>(motion.blocks) * log2_in_sixteenths(least_coded_error(lambda));
}

bool is_mostly_new(const MotionTotals& motion, Cost lambda) {
  if (motion.blocks == 0) return false;
  // Two and a half octaves above 0.3λ, the error is 1.4λ. A block then inherits a third of the reference's squared
  // error (passed_share()).
  constexpr std::int64_t kMostlyNew = 40;
  // The spread is subtracted, because a part that stands still or is predicted well inherits errors.
  return new_content(motion, lambda) - spread(motion, lambda) >= kMostlyNew * static_cast<std::int64_t>(motion.blocks);
}

bool is_to_stay(const MotionTotals& advancing, const MotionTotals& staying, Cost lambda) {
  const std::int64_t advances = new_content(advancing, lambda);
  const std::int64_t stays = new_content(staying, lambda);
  // No errors are passed on that the previous frame could save bits with. So staying must save bits in this frame.
  if (is_mostly_new(advancing, lambda)) return 32 * stays < 31 * advances;
  // A frame that stays may take up to an eighth more bits: no frame is predicted from the previous frame then, which
  // saves about as many. What that frame saves does not grow with the bits: its λ is higher by a fixed factor. So the
  // limit is also fixed, at three sixteenths of an octave.
  return 8 * stays < 9 * advances && stays - advances < 3 * static_cast<std::int64_t>(advancing.blocks);
}

bool is_noise(const MotionTotals& advancing, const MotionTotals& staying, Cost lambda) {
  // If noise has a squared error of up to λ per sample, coding it costs more than it saves. The difference of two
  // frames has the noise of both, so the limit is 2λ per sample.
  const std::uint64_t limit = 2 * static_cast<std::uint64_t>(lambda) * kBlockSamples * advancing.blocks;
  if (staying.blocks == 0 || (advancing.squared_error << kCostFractionBits) > limit) return false;
  // The error is the same in all blocks, to an eighth of an octave. So all of it is noise, even if the frame before
  // brought something new, and the distance of two frames has a larger error.
  if (spread(advancing, lambda) <= 2 * static_cast<std::int64_t>(advancing.blocks)) return true;
  const std::uint64_t difference = std::max(advancing.squared_error, staying.squared_error) - std::min(advancing.squared_error, staying.squared_error);
  return 16 * difference <= advancing.squared_error;
}

bool is_hardly_new(const MotionTotals& motion, Cost lambda) {
  // A coded frame takes at least six to eight bits per block. So a repeat is cheaper up to a squared error of about λ/8
  // per sample. A frame may become a repeat up to twice this error; the backend then compares the costs.
  return (motion.squared_error << kCostFractionBits) * 4 <= static_cast<std::uint64_t>(lambda) * kBlockSamples * motion.blocks;
}

}  // namespace c63
