#include "cpu/block_prediction.h"

namespace c63::cpu {

void restore_row(const FrameSyntax& syntax, const PredictionVectors& vectors, const std::array<TransformTable, kPlanes>& tables, const Kernels& kernels,
                 const PaddedPicture& reference, PaddedPicture& reconstruction, PaddedPicture* prediction,
                 int mcu_row) {
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneSyntax& plane = syntax.planes[p];
    const PlaneView out = reconstruction.plane(p);
    for_each_run_of_mcu_row(plane.geometry, vectors, p, mcu_row, reference, prediction,
                            [&](int block, int column, int row, std::span<const BlockPrediction> predictions) {
                              kernels.dequantize_reconstruct(plane.block(block), tables[p], predictions,
                                                     &out.at(column * kBlockSize, row * kBlockSize), out.pitch);
                            });
  }
}

int reference_rows(const Geometry& geometry, const PredictionVectors& vectors, int mcu_row) {
  int rows = mcu_row + 1;
  for (int p = 0; p < kPlanes; ++p) {
    const int mcu_height = block_rows_per_mcu(p) * kBlockSize;
    const auto blocks = static_cast<std::size_t>(geometry.plane(p).columns) * static_cast<std::size_t>(block_rows_per_mcu(p));
    int down = 0;  // the largest downward component of the row's vectors
    for (const MotionVector vector : std::span(vectors.plane(p).vectors).subspan(static_cast<std::size_t>(mcu_row) * blocks, blocks)) {
      down = std::max(down, static_cast<int>(vector.y));
    }
    rows = std::max(rows, mcu_row + 1 + (down + mcu_height - 1) / mcu_height);
  }
  return std::min(rows, geometry.mcu_rows());
}

}  // namespace c63::cpu
