#pragma once

#include <cstdint>

#include "codec/geometry.h"
#include "codec/host_device.h"

namespace c63 {

/// A block's candidates: positions in the reference plane with x in [left, right) and y in [top, bottom).
struct SearchWindow {
  int left = 0;
  int top = 0;
  int right = 0;   ///< exclusive
  int bottom = 0;  ///< exclusive

  [[nodiscard]] C63_HD constexpr bool empty() const { return left >= right || top >= bottom; }
};

/// Returns the search range of a plane. Chroma planes have half the sides, so half the range, rounded down.
[[nodiscard]] C63_HD constexpr int plane_search_range(int range, int plane) { return plane == 0 ? range : range / 2; }

/// Returns the candidates of a block of any sides, at (x, y), by the rules of search_window().
[[nodiscard]] C63_HD constexpr SearchWindow search_window_at(int x, int y, int width, int height, int plane_width, int plane_height,
                                                             int range) {
  const int last_x = plane_width - width;
  const int last_y = plane_height - height;
  return {x - range > 0 ? x - range : 0, y - range > 0 ? y - range : 0,  //
          x + range < last_x ? x + range : last_x, y + range < last_y ? y + range : last_y};
}

/// Returns the candidates of block (column, row). As in the course encoder, the upper bounds are at most w-8 and h-8,
/// and are exclusive. So blocks of the last column never have candidates with mv_x >= 0, and blocks of the last row
/// none with mv_y >= 0. A plane that is 8 samples wide or high has no candidates; its blocks have the vector (0, 0).
[[nodiscard]] C63_HD constexpr SearchWindow search_window(int column, int row, int plane_width, int plane_height,
                                                          int range) {
  return search_window_at(column * kBlockSize, row * kBlockSize, kBlockSize, kBlockSize, plane_width, plane_height, range);
}

/// Returns the candidates within `range` of the vector (centre_x, centre_y), by the rules of search_window(). Vectors
/// stay in -128..127. If the vector is zero, these are the candidates of search_window().
[[nodiscard]] C63_HD constexpr SearchWindow search_window_around(int column, int row, int plane_width, int plane_height,
                                                                 int range, int centre_x, int centre_y) {
  const int x = column * kBlockSize;
  const int y = row * kBlockSize;
  const auto first = [range](int own, int moved) {
    const int least = moved - range > -128 ? moved - range : -128;
    return own + least > 0 ? own + least : 0;
  };
  const auto end = [range](int own, int moved, int last) {
    const int most = moved + range < 128 ? moved + range : 128;
    return own + most < last ? own + most : last;
  };
  return {first(x, centre_x), first(y, centre_y), end(x, centre_x, plane_width - kBlockSize),
          end(y, centre_y, plane_height - kBlockSize)};
}

/// Returns the candidates for encodes that need not give the course encoder's bytes. Blocks at the plane's right and
/// bottom border are also candidates, so the zero vector always is one. With range 0, it is the only one.
[[nodiscard]] C63_HD constexpr SearchWindow whole_search_window(int column, int row, int plane_width, int plane_height,
                                                                int range) {
  if (range == 0) {
    return {column * kBlockSize, row * kBlockSize, column * kBlockSize + 1, row * kBlockSize + 1};
  }
  return search_window(column, row, plane_width + 1, plane_height + 1, range);
}

/// Returns true if a vector keeps its block inside the plane, as the format requires.
[[nodiscard]] C63_HD constexpr bool vector_is_legal(int column, int row, int plane_width, int plane_height, int mv_x,
                                                    int mv_y) {
  const int x = column * kBlockSize + mv_x;
  const int y = row * kBlockSize + mv_y;
  return x >= 0 && y >= 0 && x <= plane_width - kBlockSize && y <= plane_height - kBlockSize;
}

/// Returns a key that orders candidates: by SAD, and with equal SADs by raster order in the window. The codec chooses
/// the candidate with the smallest key. `index` is the candidate's number in the window's raster order; it is below
/// 2^16 for ranges up to 127.
[[nodiscard]] C63_HD constexpr std::uint32_t candidate_key(std::uint32_t sad, std::uint32_t index) {
  return sad << 16 | index;
}

}  // namespace c63
