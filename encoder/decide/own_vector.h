#pragma once

#include <string>

#include "c63/error.h"
#include "c63/motion_vector.h"
#include "codec/search_window.h"

namespace c63 {

/// The value that all vectors have before a user's own search runs: all bytes are 0x80. No candidate has it: components
/// of vectors are at least -127.
inline constexpr MotionVector kNotWritten{-128, -128};

/// Returns true if a vector of a user's own search (c63/own_search.h) is a candidate of its block, or the zero vector.
/// The zero vector can always be coded.
[[nodiscard]] C63_HD constexpr bool own_vector_is_right(int column, int row, int width, int height, int range, MotionVector vector) {
  const SearchWindow window = search_window(column, row, width, height, range);
  if (vector.x == 0 && vector.y == 0) return true;
  if (window.empty()) return false;
  const int x = column * kBlockSize + vector.x;
  const int y = row * kBlockSize + vector.y;
  return x >= window.left && x < window.right && y >= window.top && y < window.bottom;
}

/// Returns the error for a vector that own_vector_is_right() rejects. `name` is the name of the search that gave it.
[[nodiscard]] Error own_vector_error(const std::string& name, int plane, int column, int row, int width, int height, int range,
                                     MotionVector vector);

}  // namespace c63
