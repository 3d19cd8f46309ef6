#pragma once

#include <cstdint>

namespace c63 {

/// The displacement of an 8x8 block in whole samples. The prediction lies x samples further right and y further down.
struct MotionVector {
  std::int8_t x = 0;
  std::int8_t y = 0;
  friend constexpr bool operator==(MotionVector, MotionVector) = default;
};

}  // namespace c63
