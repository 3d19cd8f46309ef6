#include "cpu/frame_restorer.h"

#include "cpu/block_prediction.h"

namespace c63::cpu {

void restore_row(const FrameSyntax& syntax, const std::array<TransformTable, kPlanes>& tables, const Kernels& kernels,
                 const PaddedPicture& reference, PaddedPicture& reconstruction, PaddedPicture* prediction,
                 int mcu_row) {
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneSyntax& plane = syntax.planes[p];
    const PlaneView out = reconstruction.plane(p);
    for_each_run_of_mcu_row(syntax, p, mcu_row, reference, prediction,
                            [&](int block, int column, int row, std::span<const BlockPrediction> predictions) {
                              kernels.dequantize_reconstruct(plane.block(block), tables[p], predictions,
                                                     &out.at(column * kBlockSize, row * kBlockSize), out.pitch);
                            });
  }
}

}  // namespace c63::cpu
