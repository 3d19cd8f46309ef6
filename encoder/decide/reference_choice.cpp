#include "decide/reference_choice.h"

#include <algorithm>
#include <cstdint>

#include "decide/activity_weights.h"

namespace c63 {
namespace {

/// About the bits of a frame that is predicted like this: the logarithms of its blocks' errors, over one of 0.3λ a sample.
std::int64_t bits_of(const SourceMotion& motion, Cost lambda) {
  const std::uint32_t floor = std::max(1U, static_cast<std::uint32_t>(std::int64_t{kBlockSamples} * 3 * lambda / (10 << kCostFractionBits)));
  std::int64_t bits = 0;
  for (const SourceBlock& block : motion) bits += log2_in_sixteenths(floor + block.squared_error);
  return bits - static_cast<std::int64_t>(motion.size()) * log2_in_sixteenths(floor);
}

}  // namespace

bool is_to_stay(const SourceMotion& advancing, const SourceMotion& staying, Cost lambda) {
  // Up to an eighth more bits are worth it: what the frame before saves is about that.
  return 8 * bits_of(staying, lambda) < 9 * bits_of(advancing, lambda);
}

bool is_hardly_new(const SourceMotion& motion, Cost lambda) {
  std::uint64_t error = 0;
  for (const SourceBlock& block : motion) error += block.squared_error;
  // A frame costs six to eight bits a block at least: a repeat may have λ/8 of error a sample. Twice that, to be sure.
  return (error << kCostFractionBits) * 4 <= static_cast<std::uint64_t>(lambda) * kBlockSamples * motion.size();
}

}  // namespace c63
