#include "decide/reference_choice.h"

#include <algorithm>

namespace c63 {
namespace {

/// Returns a number that is roughly proportional to a frame's bits: the sum of its blocks' error_logarithm(), minus the
/// smallest possible sum.
std::int64_t bits_of(const MotionTotals& motion, Cost lambda) {
  return static_cast<std::int64_t>(motion.logarithms) -
         static_cast<std::int64_t>(motion.blocks) * log2_in_sixteenths(least_coded_error(lambda));
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

bool is_to_stay(const MotionTotals& advancing, const MotionTotals& staying, Cost lambda) {
  // A frame that stays may take up to an eighth more bits: no frame is predicted from the previous frame then, which
  // saves about as many.
  return 8 * bits_of(staying, lambda) < 9 * bits_of(advancing, lambda);
}

bool is_noise(const MotionTotals& advancing, const MotionTotals& staying, Cost lambda) {
  // If noise has a squared error of up to λ per sample, coding it costs more than it saves. The difference of two
  // frames has the noise of both, so the limit is 2λ per sample.
  const std::uint64_t limit = 2 * static_cast<std::uint64_t>(lambda) * kBlockSamples * advancing.blocks;
  if (staying.blocks == 0 || (advancing.squared_error << kCostFractionBits) > limit) return false;
  const std::uint64_t difference = std::max(advancing.squared_error, staying.squared_error) - std::min(advancing.squared_error, staying.squared_error);
  return 16 * difference <= advancing.squared_error;
}

bool is_hardly_new(const MotionTotals& motion, Cost lambda) {
  // A coded frame takes at least six to eight bits per block. So a repeat is cheaper up to a squared error of about λ/8
  // per sample. A frame may become a repeat up to twice this error; the backend then compares the costs.
  return (motion.squared_error << kCostFractionBits) * 4 <= static_cast<std::uint64_t>(lambda) * kBlockSamples * motion.blocks;
}

}  // namespace c63
