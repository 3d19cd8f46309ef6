#include "decide/reference_choice.h"

namespace c63 {
namespace {

/// An estimate of the bits of a frame with this motion: the logarithms of its blocks' errors, above the least.
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
    // It may take up to an eighth more bits, because the previous frame saves about as many.
  return 8 * bits_of(staying, lambda) < 9 * bits_of(advancing, lambda);
}

bool is_hardly_new(const MotionTotals& motion, Cost lambda) {
  // A frame costs at least six to eight bits per block, so a repeat may have an error of λ/8 per sample. Twice that is allowed for.
  return (motion.squared_error << kCostFractionBits) * 4 <= static_cast<std::uint64_t>(lambda) * kBlockSamples * motion.blocks;
}

}  // namespace c63
