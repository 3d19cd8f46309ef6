#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/block_prediction.h"
#include "cpu/frame_coder.h"
#include "cpu/plane_search.h"

namespace c63::cpu {

void FrameCoder::begin(const FrameJob& job) {
  job_ = &job;
  const QuantizationTables& tables = job.plan->tables;
  for (int p = 0; p < kPlanes; ++p) {
    if (tables[p] != tables_[p]) transforms_[p] = TransformTable(tables[p], p);
  }
  tables_ = tables;
}

namespace {

class PlainCoder final : public FrameCoder {
 public:
  PlainCoder(const CodingSettings& settings, const Kernels& kernels)
      : FrameCoder(kernels, Geometry(settings.width, settings.height)) {
    auto searchers = make_plane_searchers(settings, kernels, geometry_);
    for (int p = 0; p < kPlanes; ++p) {
      searches_.emplace_back(std::move(searchers[static_cast<std::size_t>(p)]), kernels, geometry_.plane(p), block_rows_per_mcu(p),
                             plane_search_range(settings.search_range, p));
    }
  }

  void begin(const FrameJob& job) override {
    FrameCoder::begin(job);
    for (int p = 0; p < kPlanes; ++p) {
      if (job.plan->key) {
        searches_[p].forget();
      } else {
        searches_[p].begin(job.current->plane(p), job.reference->plane(p), nullptr);
      }
    }
  }

  void prepare_row(int mcu_row) override {
    for (int p = 0; p < kPlanes; ++p) {
      const int rows = rows_per_mcu(p);
      searches_[p].prepare_rows(mcu_row * rows, (mcu_row + 1) * rows);
    }
  }

  void prepare() override {
    for (PlaneSearch& search : searches_) search.prepare();
  }

  std::uint64_t search_row(int mcu_row) override {
    std::uint64_t luma_sad = 0;
    for (int p = 0; p < kPlanes; ++p) {
      const std::uint64_t sad = searches_[p].search_mcu_row(mcu_row);
      if (p == 0) luma_sad = sad;
      const auto [first, blocks] = blocks_of_row(p, mcu_row);
      std::copy_n(searches_[p].chosen() + first, blocks, job().syntax->planes[p].vectors.data() + first);
      if (job().motion != nullptr) std::copy_n(searches_[p].sads() + first, blocks, (*job().motion)[p].sads.data() + first);
    }
    return luma_sad;
  }

  std::int64_t code_row(int mcu_row) override {
    FrameSyntax& syntax = *job().syntax;
    for (int p = 0; p < kPlanes; ++p) set_flags_of_row(p, mcu_row);
    job().vectors->fill_row(syntax, nullptr, mcu_row);
    for (int p = 0; p < kPlanes; ++p) {
      PlaneSyntax& plane = syntax.planes[p];
      const ConstPlaneView current = job().current->plane(p);
      const PlaneView reconstruction = job().reconstruction->plane(p);
      for_each_run_of_mcu_row(plane.geometry, *job().vectors, p, mcu_row, *job().reference, job().prediction,
                              [&](int block, int column, int row, std::span<const BlockPrediction> predictions) {
                                const int x = column * kBlockSize;
                                const int y = row * kBlockSize;
                                std::int16_t* const levels = plane.block(block);
                                kernels_.transform_quantize(&current.at(x, y), current.pitch, predictions, transforms_[p], levels);
                                kernels_.dequantize_reconstruct(levels, transforms_[p], predictions, &reconstruction.at(x, y),
                                                                reconstruction.pitch);
                              });
    }
    return 0;
  }

  [[nodiscard]] bool codes_after_search() const override { return false; }

 private:
  /// Returns the number of the first block of a plane's MCU row, and the number of its blocks.
  [[nodiscard]] std::pair<std::size_t, std::size_t> blocks_of_row(int p, int mcu_row) const {
    const auto blocks = static_cast<std::size_t>(geometry_.plane(p).columns) * static_cast<std::size_t>(block_rows_per_mcu(p));
    return {static_cast<std::size_t>(mcu_row) * blocks, blocks};
  }

  /// Sets the flags that say which blocks have a vector: all blocks of an inter frame, none of a key frame.
  void set_flags_of_row(int p, int mcu_row) {
    PlaneSyntax& plane = job().syntax->planes[p];
    const auto [first, blocks] = blocks_of_row(p, mcu_row);
    std::fill_n(plane.uses_vector.data() + first, blocks, std::uint8_t{job().plan->key ? std::uint8_t{0} : std::uint8_t{1}});
    if (job().plan->key) std::fill_n(plane.vectors.data() + first, blocks, MotionVector{});
  }

  std::vector<PlaneSearch> searches_;  ///< one for each plane
};

}  // namespace

std::unique_ptr<FrameCoder> make_plain_coder(const CodingSettings& settings, const Kernels& kernels) {
  return std::make_unique<PlainCoder>(settings, kernels);
}

}  // namespace c63::cpu
