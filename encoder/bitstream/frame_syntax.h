#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "c63/motion_vector.h"
#include "codec/geometry.h"

namespace c63 {

/// The syntax elements of one plane of a frame. Blocks are in raster order of the plane.
struct PlaneSyntax {
  PlaneGeometry geometry;
  std::vector<std::int16_t> levels;       ///< 64 for each block, in zig-zag order
  std::vector<MotionVector> vectors;      ///< one per block
  std::vector<std::uint8_t> uses_vector;  ///< one per block, 0 or 1

  [[nodiscard]] std::int16_t* block(int index) { return levels.data() + static_cast<std::size_t>(index) * 64; }
  [[nodiscard]] const std::int16_t* block(int index) const {
    return levels.data() + static_cast<std::size_t>(index) * 64;
  }
};

/// The syntax elements of one frame. They are the interface between transform and entropy coder, in both directions.
struct FrameSyntax {
  Geometry geometry;
  bool key = false;
  std::array<PlaneSyntax, kPlanes> planes;

  FrameSyntax() = default;
  explicit FrameSyntax(const Geometry& picture) : geometry(picture) {
    for (int p = 0; p < kPlanes; ++p) {
      planes[p].geometry = picture.plane(p);
      const auto blocks = static_cast<std::size_t>(planes[p].geometry.blocks());
      planes[p].levels.resize(blocks * 64);
      planes[p].vectors.resize(blocks);
      planes[p].uses_vector.resize(blocks);
    }
  }
};

}  // namespace c63
