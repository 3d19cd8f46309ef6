#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c63/motion_vector.h"
#include "c63/picture.h"
#include "codec/geometry.h"
#include "codec/host_device.h"

// The motion of blocks between two source pictures, before either is coded. It is never sent, so it only needs to be
// fast and close to the true motion.

namespace c63 {

/// Returns the vector of the same motion over `factor` times as many frames; a negative factor reverses it. Components
/// are clamped to ±127.
[[nodiscard]] C63_HD constexpr MotionVector scaled_vector(MotionVector v, int factor) {
  const int x = factor * v.x;
  const int y = factor * v.y;
  return {static_cast<std::int8_t>(x < -127 ? -127 : x > 127 ? 127 : x), static_cast<std::int8_t>(y < -127 ? -127 : y > 127 ? 127 : y)};
}

/// Subtracted from the SAD of the zero vector, so that noise in flat areas does not count as motion.
inline constexpr std::uint32_t kStillBonus = 16;
/// The most steps of 2 samples that the search of one block makes, and the most steps of 1 sample.
inline constexpr int kMostSteps = 8;

/// The best match of a luma block in another picture.
struct SourceBlock {
  MotionVector vector;
  std::uint32_t squared_error = 0;
};
/// The motion of all luma blocks, in raster order.
using SourceMotion = std::vector<SourceBlock>;

/// Computes the SAD of two 8x8 blocks.
using BlockSad = std::uint32_t (*)(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch);

/// Finds the motion of all luma blocks of `current` against `reference`. Each search starts at the best of these: the
/// zero vector, the vectors found for the left, upper and upper right neighbours, and the block's hint, if `hints` is
/// not empty. From there it moves to better vectors, in steps of 2 samples and then of 1. Both planes have the size of
/// `geometry`. Vectors stay inside the plane and within ±127.
[[nodiscard]] SourceMotion find_source_motion(const PlaneGeometry& geometry, ConstPlaneView current, ConstPlaneView reference,
                                              std::span<const MotionVector> hints, BlockSad sad);

}  // namespace c63
