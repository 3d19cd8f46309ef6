#pragma once

#include <cstdint>

#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/activity_weights.h"
#include "decide/cost.h"
#include "decide/lookahead_decisions.h"
#include "decide/source_motion.h"

// A frame without SOF is predicted from what the frame before was predicted from, and takes that frame's place: nothing is
// predicted from the frame before, then, which may be coded with fewer bits. Such a frame *stays*, others *advance*.

namespace c63 {

/// What the motion of a frame's blocks comes to, all of them added up.
struct MotionTotals {
  std::uint64_t logarithms = 0;  ///< error_logarithm()
  std::uint64_t squared_error = 0;
  std::uint64_t blocks = 0;
};

/// A block's squared error up to which its bits do not fall: 0.3λ a sample.
[[nodiscard]] C63_HD constexpr std::uint32_t least_coded_error(Cost lambda) {
  const auto error = static_cast<std::uint32_t>(std::int64_t{kBlockSamples} * 3 * lambda / (10 << kCostFractionBits));
  return error < 1 ? 1 : error;
}
/// What says about how many bits a block with this squared error takes, in sixteenths.
[[nodiscard]] C63_HD constexpr int error_logarithm(std::uint32_t squared_error, std::uint32_t least) {
  return log2_in_sixteenths(least + squared_error);
}

[[nodiscard]] MotionTotals totals_of(const SourceMotion& motion, Cost lambda);

/// Whether a frame stays that has the motion `advancing` against the frame before, and `staying` against that one's reference.
[[nodiscard]] bool is_to_stay(const MotionTotals& advancing, const MotionTotals& staying, Cost lambda);

/// Whether a frame that has this motion against the frame before is so much like it that it may become a repeat of it: then
/// the frame behind it must advance.
[[nodiscard]] bool is_hardly_new(const MotionTotals& motion, Cost lambda);

}  // namespace c63
