#pragma once

#include <cstdint>

#include "codec/geometry.h"
#include "codec/host_device.h"

namespace c63 {

/// Positions of candidate blocks: x in [left, right), y in [top, bottom), absolute in the reference plane.
struct SearchWindow {
  int left = 0;
  int top = 0;
  int right = 0;   ///< exclusive
  int bottom = 0;  ///< exclusive

  [[nodiscard]] C63_HD constexpr bool empty() const { return left >= right || top >= bottom; }
};

/// The search range of a plane: chroma has half the samples, so half the range, rounded down.
[[nodiscard]] C63_HD constexpr int plane_search_range(int range, int plane) { return plane == 0 ? range : range / 2; }

/// The candidates of block (column, row). The upper bounds are exclusive and are cut at w-8, h-8 *before* the exclusion,
/// so the last column never tests mv_x >= 0 and the last row never mv_y >= 0: the course encoder's own quirk.
/// A plane that is 8 wide or high has no candidate; its vector is (0, 0).
[[nodiscard]] C63_HD constexpr SearchWindow search_window(int column, int row, int plane_width, int plane_height,
                                                          int range) {
  const int x = column * kBlockSize;
  const int y = row * kBlockSize;
  const int last_x = plane_width - kBlockSize;
  const int last_y = plane_height - kBlockSize;
  return {x - range > 0 ? x - range : 0, y - range > 0 ? y - range : 0,  //
          x + range < last_x ? x + range : last_x, y + range < last_y ? y + range : last_y};
}

/// The same for an encoder that need not give the course encoder's bytes: the window reaches the plane's border, so that the
/// zero vector is always in it; for a range of 0 it is all there is.
[[nodiscard]] C63_HD constexpr SearchWindow whole_search_window(int column, int row, int plane_width, int plane_height,
                                                                int range) {
  if (range == 0) {
    return {column * kBlockSize, row * kBlockSize, column * kBlockSize + 1, row * kBlockSize + 1};
  }
  return search_window(column, row, plane_width + 1, plane_height + 1, range);
}

/// Whether a coded vector keeps its block inside the plane, as every decoder may demand.
[[nodiscard]] C63_HD constexpr bool vector_is_legal(int column, int row, int plane_width, int plane_height, int mv_x,
                                                    int mv_y) {
  const int x = column * kBlockSize + mv_x;
  const int y = row * kBlockSize + mv_y;
  return x >= 0 && y >= 0 && x <= plane_width - kBlockSize && y <= plane_height - kBlockSize;
}

/// Order of candidates: smaller SAD first, then raster order (y, then x) of the window. The smallest key is the codec's
/// choice. `index` is the candidate's raster number in its window, below 2^16 for ranges up to 127.
[[nodiscard]] C63_HD constexpr std::uint32_t candidate_key(std::uint32_t sad, std::uint32_t index) {
  return sad << 16 | index;
}

}  // namespace c63
