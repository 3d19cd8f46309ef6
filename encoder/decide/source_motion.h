#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c63/motion_vector.h"
#include "c63/picture.h"
#include "codec/geometry.h"
#include "codec/host_device.h"

// Where blocks of a picture lie in another one of the same video, before any is coded. Nothing of it is sent, so it only has
// to be quick and near to the true motion.

namespace c63 {

/// The vector of several steps of the same motion, or of one the other way.
[[nodiscard]] C63_HD constexpr MotionVector scaled_vector(MotionVector v, int factor) {
  const int x = factor * v.x;
  const int y = factor * v.y;
  return {static_cast<std::int8_t>(x < -127 ? -127 : x > 127 ? 127 : x), static_cast<std::int8_t>(y < -127 ? -127 : y > 127 ? 127 : y)};
}

/// The zero vector counts as so much better than its SAD: noise in flat places moves nothing.
inline constexpr std::uint32_t kStillBonus = 16;
/// Steps of one size that a vector goes at most.
inline constexpr int kMostSteps = 8;

/// Where a luma block lies in another picture.
struct SourceBlock {
  MotionVector vector;
  std::uint32_t squared_error = 0;
};
/// Of all luma blocks, in raster order.
using SourceMotion = std::vector<SourceBlock>;

/// SAD of two 8x8 blocks.
using BlockSad = std::uint32_t (*)(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch);

/// Finds the motion of the blocks of `current`, which is not empty, against `reference`: from the best of the zero vector,
/// those found left and above, and `hints`, one for each block, downhill with steps of 2 and 1. Planes have the size of
/// `geometry`. Vectors stay inside the plane and within ±127.
[[nodiscard]] SourceMotion find_source_motion(const PlaneGeometry& geometry, ConstPlaneView current, ConstPlaneView reference,
                                              std::span<const MotionVector> hints, BlockSad sad);

}  // namespace c63
