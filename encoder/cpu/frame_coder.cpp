#include "cpu/frame_coder.h"

#include "cpu/block_prediction.h"

namespace c63::cpu {

FrameCoder::FrameCoder(const EncoderSettings& settings, const Kernels& kernels)
    : settings_(settings),
      kernels_(kernels),
      geometry_(settings.width, settings.height),
      tables_(make_quantization_tables(settings.qp)) {}

std::uint64_t FrameCoder::search_row(const FrameJob& job, int mcu_row) const {
  std::uint64_t luma_sad = 0;
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSymbols& symbols = job.symbols->planes[p];
    const PlaneGeometry& g = symbols.geometry;
    const ConstPlaneView current = job.current->plane(p);
    const ConstPlaneView reference = job.reference->plane(p);
    const int range = plane_search_range(settings_.search_range, p);
    for_each_block_of_mcu_row(g, p, mcu_row, [&](int block, int column, int row) {
      const int x = column * kBlockSize;
      const int y = row * kBlockSize;
      SearchWindow window = search_window(column, row, g.width, g.height, range);
      if (window.empty()) window = {x, y, x + 1, y + 1};  // nothing to choose from: the zero vector
      const BestCandidate best = kernels_.search_full({&current.at(x, y), current.pitch, reference, window});
      symbols.vectors[block] = {static_cast<std::int8_t>(best.x - x), static_cast<std::int8_t>(best.y - y)};
      if (p == 0) luma_sad += best.sad;
      if (job.motion != nullptr) (*job.motion)[p].sads[block] = static_cast<std::uint16_t>(best.sad);
    });
  }
  return luma_sad;
}

void FrameCoder::code_row(const FrameJob& job, int mcu_row) const {
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSymbols& symbols = job.symbols->planes[p];
    const PlaneGeometry& g = symbols.geometry;
    const ConstPlaneView current = job.current->plane(p);
    const PlaneView reconstruction = job.reconstruction->plane(p);
    for_each_block_of_mcu_row(g, p, mcu_row, [&](int block, int column, int row) {
      const int x = column * kBlockSize;
      const int y = row * kBlockSize;
      symbols.uses_vector[block] = job.key ? 0 : 1;
      if (job.key) symbols.vectors[block] = {};
      const BlockPrediction prediction = predict_block(*job.symbols, p, block, column, row, *job.reference);
      if (job.prediction != nullptr) keep_prediction(prediction, job.prediction->plane(p), column, row);
      kernels_.code_block(&current.at(x, y), current.pitch, prediction.samples, prediction.pitch, tables_[p],
                          p, symbols.block(block));
      kernels_.restore_block(symbols.block(block), tables_[p], prediction.samples, prediction.pitch,
                             &reconstruction.at(x, y), reconstruction.pitch);
    });
  }
}

}  // namespace c63::cpu
