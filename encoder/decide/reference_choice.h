#pragma once

#include <cstdint>

#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/weights.h"
#include "decide/cost.h"
#include "decide/presets.h"
#include "decide/source_motion.h"

// A frame without an SOF marker is predicted from the same reference as the previous frame, and its picture replaces
// the previous picture. Such a frame *stays*; other frames *advance*. If a frame stays, no frame is predicted from the
// previous frame. So fewer bits are enough for the previous frame.

namespace c63 {

/// Sums over all blocks of a frame. They describe the motion between source pictures (source_motion.h).
struct MotionTotals {
  std::uint64_t logarithms = 0;  ///< sum of error_logarithm()
  std::uint64_t squared_error = 0;
  std::uint64_t blocks = 0;
};

/// Returns a squared error of a block: 0.3λ per sample. A block with a smaller error hardly takes fewer bits.
[[nodiscard]] C63_HD constexpr std::uint32_t least_coded_error(Cost lambda) {
  const auto error = static_cast<std::uint32_t>(std::int64_t{kBlockSamples} * 3 * lambda / (10 << kCostFractionBits));
  return error < 1 ? 1 : error;
}
/// Returns log2(squared_error + least) of a block, in sixteenths. It is roughly proportional to the block's bits.
[[nodiscard]] C63_HD constexpr int error_logarithm(std::uint32_t squared_error, std::uint32_t least) {
  return log2_in_sixteenths(least + squared_error);
}

[[nodiscard]] MotionTotals totals_of(const SourceMotion& motion, Cost lambda);

/// Returns how much of a frame is new: a number that is roughly proportional to its bits above the least. For each
/// block, it adds how far the error lies above least_coded_error(), in sixteenths of an octave.
[[nodiscard]] std::int64_t new_content(const MotionTotals& motion, Cost lambda);
/// Returns true if a frame differs so much from the previous one that it inherits hardly any of that frame's errors.
[[nodiscard]] bool is_mostly_new(const MotionTotals& motion, Cost lambda);

/// Returns true if a frame should stay. `advancing` is its motion against the previous frame, and `staying` its motion
/// against the previous frame's reference.
[[nodiscard]] bool is_to_stay(const MotionTotals& advancing, const MotionTotals& staying, Cost lambda);

/// Returns true if a frame differs from the previous one only by noise that is not worth coding. It is then best to
/// repeat the previous picture. Noise is equally large in all blocks, or at both distances. Motion grows with the
/// distance.
[[nodiscard]] bool is_noise(const MotionTotals& advancing, const MotionTotals& staying, Cost lambda);

/// Returns true if a frame is so similar to the previous one that it may become a repeat. The next frame must then
/// advance, because a frame that stays must not follow a repeat.
[[nodiscard]] bool is_hardly_new(const MotionTotals& motion, Cost lambda);

}  // namespace c63
