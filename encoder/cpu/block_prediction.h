#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "bitstream/frame_syntax.h"
#include "bitstream/prediction_vectors.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"

namespace c63::cpu {

/// The prediction of a block that is coded without a vector: zero.
[[nodiscard]] inline BlockPrediction no_prediction() {
  static constexpr std::uint8_t kZeros[kBlockSize] = {};  // one row, used with a pitch of 0
  return {kZeros, 0};
}

/// Returns the codec's prediction of a block: the block of the reference plane that its vector points to, or zero if it
/// has no vector.
[[nodiscard]] inline BlockPrediction predict_block(const PredictionVectors::Plane& vectors, int block, int column, int row,
                                                   ConstPlaneView view) {
  if (vectors.has_vector[static_cast<std::size_t>(block)] == 0) return no_prediction();
  const MotionVector vector = vectors.vectors[static_cast<std::size_t>(block)];
  return {&view.at(column * kBlockSize + vector.x, row * kBlockSize + vector.y), view.pitch};
}

/// Copies the prediction of block (column, row) to its place in a plane.
inline void keep_prediction(const BlockPrediction& prediction, PlaneView plane, int column, int row) {
  for (int y = 0; y < kBlockSize; ++y) {
    std::memcpy(&plane.at(column * kBlockSize, row * kBlockSize + y), prediction.samples + y * prediction.pitch,
                kBlockSize);
  }
}

/// The number of rows of blocks that a plane has in one MCU row.
constexpr int block_rows_per_mcu(int plane) { return plane == 0 ? 2 : 1; }
/// The number of rows of samples that a plane has in one MCU row.
constexpr int rows_per_mcu(int plane) { return block_rows_per_mcu(plane) * kBlockSize; }

/// The most blocks in one kernel call. They are so few that their samples and levels stay in the first-level cache. The
/// number is a multiple of the number of blocks that kernels process at a time.
inline constexpr int kBlocksPerRun = 64;

/// Splits a plane's blocks in MCU row `mcu_row` into runs: at most kBlocksPerRun neighbouring blocks of one row. Calls
/// visit(block index, column, row, predictions) once for each run, with the index, column and row of the run's first
/// block. Also copies the predictions to `kept` if it is not null.
template <typename Visit>
void for_each_run_of_mcu_row(const PlaneGeometry& g, const PredictionVectors& vectors, int plane, int mcu_row,
                             const PaddedPicture& reference, PaddedPicture* kept, Visit&& visit) {
  std::array<BlockPrediction, kBlocksPerRun> predictions;
  const PredictionVectors::Plane& of_plane = vectors.plane(plane);
  const ConstPlaneView view = reference.plane(plane);
  for (int row = mcu_row * block_rows_per_mcu(plane); row < (mcu_row + 1) * block_rows_per_mcu(plane); ++row) {
    for (int first = 0; first < g.columns; first += kBlocksPerRun) {
      const int count = std::min(kBlocksPerRun, g.columns - first);
      for (int i = 0; i < count; ++i) {
        const int column = first + i;
        predictions[i] = predict_block(of_plane, row * g.columns + column, column, row, view);
        if (kept != nullptr) keep_prediction(predictions[i], kept->plane(plane), column, row);
      }
      visit(row * g.columns + first, first, row,
            std::span<const BlockPrediction>(predictions.data(), static_cast<std::size_t>(count)));
    }
  }
}

/// Reconstructs MCU row `mcu_row` of a decoded frame. `vectors` predict its blocks and must be legal. `reference` is
/// not read in key frames. The prediction is copied to `prediction` if that is not null.
void restore_row(const FrameSyntax& syntax, const PredictionVectors& vectors, const std::array<TransformTable, kPlanes>& tables, const Kernels& kernels,
                 const PaddedPicture& reference, PaddedPicture& reconstruction, PaddedPicture* prediction, int mcu_row);

/// Returns how many MCU rows of the reference, counted from the top, must be complete before MCU row `mcu_row` of an
/// inter frame can be reconstructed.
[[nodiscard]] int reference_rows(const Geometry& geometry, const PredictionVectors& vectors, int mcu_row);

}  // namespace c63::cpu
