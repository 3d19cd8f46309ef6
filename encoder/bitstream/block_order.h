#pragma once

#include <array>
#include <cstddef>

#include "codec/geometry.h"

namespace c63 {

/// The indices of an MCU's blocks in their planes. In coding order, Y comes first, then U, then V.
struct Mcu {
  int column = 0;            ///< column of the MCU
  std::array<int, 4> luma{};  ///< the four blocks, row by row
  int chroma = 0;            ///< index of the block of U and of V
};

/// Calls visit(mcu) for the MCUs of row `row` of a picture in coding order.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_mcu_of_row(const Geometry& geometry, int row, Visit&& visit) {
  const int columns = geometry.mcu_columns();
  for (int column = 0; column < columns; ++column) {
    const int first = 2 * (row * 2 * columns + column);
    visit(Mcu{column, {first, first + 1, first + 2 * columns, first + 2 * columns + 1}, row * columns + column});
  }
}

/// Calls visit(mcu) for the MCUs of a picture in coding order, which is raster order.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_mcu(const Geometry& geometry, Visit&& visit) {
  for (int row = 0; row < geometry.mcu_rows(); ++row) for_each_mcu_of_row(geometry, row, visit);
}

/// Calls visit(plane, block index in its plane, column of the block) for every block of an MCU row in coding order.
template <typename Visit>
void for_each_block_of_row_in_coding_order(const Geometry& geometry, int row, Visit&& visit) {
  for_each_mcu_of_row(geometry, row, [&](const Mcu& mcu) {
    for (int i = 0; i < 4; ++i) visit(0, mcu.luma[static_cast<std::size_t>(i)], 2 * mcu.column + i % 2);
    for (int p = 1; p < kPlanes; ++p) visit(p, mcu.chroma, mcu.column);
  });
}

/// Calls visit(plane, block index in its plane, column of the block) for every block of a picture in coding order.
template <typename Visit>
void for_each_block_in_coding_order(const Geometry& geometry, Visit&& visit) {
  for (int row = 0; row < geometry.mcu_rows(); ++row) for_each_block_of_row_in_coding_order(geometry, row, visit);
}

}  // namespace c63
