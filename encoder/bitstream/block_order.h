#pragma once

#include "codec/geometry.h"

namespace c63 {

/// Calls visit(plane, block index in its plane, column of the block) for every block of a picture in coding order: MCUs
/// in raster order, in each the four Y blocks row by row, then U, then V.
template <typename Visit>
void for_each_block_in_coding_order(const Geometry& geometry, Visit&& visit) {
  const int luma_columns = geometry.mcu_columns() * 2;
  for (int mcu_row = 0; mcu_row < geometry.mcu_rows(); ++mcu_row) {
    for (int mcu_column = 0; mcu_column < geometry.mcu_columns(); ++mcu_column) {
      const int column = mcu_column * 2;
      const int first = mcu_row * 2 * luma_columns + column;
      const int chroma = mcu_row * geometry.mcu_columns() + mcu_column;
      visit(0, first, column);
      visit(0, first + 1, column + 1);
      visit(0, first + luma_columns, column);
      visit(0, first + luma_columns + 1, column + 1);
      visit(1, chroma, mcu_column);
      visit(2, chroma, mcu_column);
    }
  }
}

}  // namespace c63
