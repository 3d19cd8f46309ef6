#pragma once

#include <cstdint>
#include <cstring>

#include "bitstream/frame_symbols.h"
#include "cpu/padded_picture.h"

namespace c63::cpu {

/// Where the prediction of one 8x8 block lies.
struct BlockPrediction {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;
};

/// The codec's prediction: the block that the vector points to in inter frames, zero everywhere else.
[[nodiscard]] inline BlockPrediction predict_block(const FrameSymbols& symbols, int plane, int block, int column, int row,
                                                   const PaddedPicture& reference) {
  static constexpr std::uint8_t kZeros[kBlockSize] = {};  // one row, used with a pitch of 0
  if (symbols.key || symbols.planes[plane].uses_vector[block] == 0) return {kZeros, 0};
  const MotionVector vector = symbols.planes[plane].vectors[block];
  const ConstPlaneView view = reference.plane(plane);
  return {&view.at(column * kBlockSize + vector.x, row * kBlockSize + vector.y), view.pitch};
}

/// Copies a prediction to its place in a plane.
inline void keep_prediction(const BlockPrediction& prediction, PlaneView plane, int column, int row) {
  for (int y = 0; y < kBlockSize; ++y) {
    std::memcpy(&plane.at(column * kBlockSize, row * kBlockSize + y), prediction.samples + y * prediction.pitch,
                kBlockSize);
  }
}

/// Calls visit(block index, column, row) for the blocks of a plane that MCU row `mcu_row` holds.
template <typename Visit>
void for_each_block_of_mcu_row(const PlaneGeometry& g, int plane, int mcu_row, Visit&& visit) {
  const int rows_per_mcu = plane == 0 ? 2 : 1;
  for (int row = mcu_row * rows_per_mcu; row < (mcu_row + 1) * rows_per_mcu; ++row) {
    for (int column = 0; column < g.columns; ++column) visit(row * g.columns + column, column, row);
  }
}

}  // namespace c63::cpu
