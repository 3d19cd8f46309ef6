#pragma once

#include <cstdint>
#include <vector>

#include "c63/motion_vector.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// The vectors of a plane, one per 8x8 block in raster order, with their sums of absolute differences (SADs).
struct MotionField {
  int columns = 0;
  int rows = 0;
  std::vector<MotionVector> vectors;
  std::vector<std::uint16_t> sads;  ///< 0..16320; empty if not requested
  std::vector<std::uint8_t> inter = {};  ///< 1: predicted by its vector; 0: not predicted, vector (0, 0); empty: all are 1

  [[nodiscard]] const MotionVector& at(int column, int row) const {
    return vectors[static_cast<std::size_t>(row) * columns + column];
  }
};

/// Finds the best vector of every 8x8 block of `current` in `reference`, on the CPU. The codec's rules hold: vectors
/// have components from -range to range-1, and keep the block inside `reference` and away from its right and bottom
/// edge. Of equal SADs, the first in raster order wins. Both planes have the same size, with sides that are multiples
/// of 8. `range` is 1..127 samples. Throws Error (usage) for other sizes or ranges.
[[nodiscard]] MotionField estimate_motion(ConstPlaneView current, ConstPlaneView reference, int range,
                                          SearchMethod method = SearchMethod::full);

}  // namespace c63
