#pragma once

#include <cstdint>
#include <vector>

#include "c63/motion_vector.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// One vector per 8x8 block of a plane, in raster order, with the sum of absolute differences that it reached.
struct MotionField {
  int columns = 0;
  int rows = 0;
  std::vector<MotionVector> vectors;
  std::vector<std::uint16_t> sads;  ///< 0..16320; empty where it was not asked for
  std::vector<std::uint8_t> inter = {};  ///< 0: predicted from nothing, its vector is (0, 0); 1: by its vector; empty: all are

  [[nodiscard]] const MotionVector& at(int column, int row) const {
    return vectors[static_cast<std::size_t>(row) * columns + column];
  }
};

/// Searches every 8x8 block of `current` in `reference` on the CPU, by the codec's own rules: candidates from -range to
/// range-1 that keep the block inside `reference`, first minimum in raster order.
/// Both planes have the same size, a multiple of 8 a side. `range` is 1..127.
/// Throws Error (usage) for sizes or ranges outside that.
[[nodiscard]] MotionField estimate_motion(ConstPlaneView current, ConstPlaneView reference, int range,
                                          SearchMethod method = SearchMethod::full);

}  // namespace c63
