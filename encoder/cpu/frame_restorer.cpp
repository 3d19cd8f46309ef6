#include "cpu/frame_restorer.h"

#include "cpu/block_prediction.h"

namespace c63::cpu {

void restore_row(const FrameSymbols& symbols, const std::array<TransformTable, kPlanes>& tables, const Kernels& kernels,
                 const PaddedPicture& reference, PaddedPicture& reconstruction, PaddedPicture* prediction,
                 int mcu_row) {
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneSymbols& plane = symbols.planes[p];
    const PlaneView out = reconstruction.plane(p);
    for_each_block_of_mcu_row(plane.geometry, p, mcu_row, [&](int block, int column, int row) {
      const BlockPrediction from = predict_block(symbols, p, block, column, row, reference);
      if (prediction != nullptr) keep_prediction(from, prediction->plane(p), column, row);
      kernels.restore_block(plane.block(block), tables[p], from.samples, from.pitch,
                            &out.at(column * kBlockSize, row * kBlockSize), out.pitch);
    });
  }
}

}  // namespace c63::cpu
