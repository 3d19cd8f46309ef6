#pragma once

#include <cstdint>

namespace c63 {

/// Displacement of an 8x8 block, in whole samples: the prediction is taken from (x, y) further right and down.
struct MotionVector {
  std::int8_t x = 0;
  std::int8_t y = 0;
  friend constexpr bool operator==(MotionVector, MotionVector) = default;
};

}  // namespace c63
