#include <algorithm>

#include "cpu/block_prediction.h"
#include "cpu/frame_coder.h"
#include "cpu/search_method.h"
#include "cpu/search_own.h"

namespace c63::cpu {
namespace {

/// Prefetches the cache line of sample x in each of the rows [first, end). A large picture does not stay in the caches
/// until the next frame, and a CPU's own prefetcher does not follow the many short rows of a search window.
void prefetch_lines(ConstPlaneView plane, int x, int first, int end) {
  for (int y = first; y < std::min(end, plane.height); ++y) __builtin_prefetch(&plane.at(x, y), 0, 2);
}

constexpr int kCacheLine = 64;

/// Vectors that are probably close to the vector of a block.
class VectorPredictors {
 public:
  VectorPredictors() = default;
  /// Collects only vectors that are known regardless of the order in which MCU rows are searched. From `syntax` it
  /// takes the left neighbour's vector, and those of the upper and upper right neighbours if they are in the same MCU
  /// row. If `previous` is not null, it takes from the previous frame the vectors of the block itself and of its right
  /// and lower neighbours.
  VectorPredictors(const PlaneSyntax& syntax, const PredictionVectors::Plane* previous, int plane, int block, int column, int row) {
    const PlaneGeometry& g = syntax.geometry;
    if (column > 0) add(syntax.vectors[block - 1]);
    const bool has_above = plane == 0 && row % 2 == 1;
    if (has_above) add(syntax.vectors[block - g.columns]);
    if (previous != nullptr) add(previous->vectors[block]);
    if (has_above && column + 1 < g.columns) add(syntax.vectors[block - g.columns + 1]);
    if (previous == nullptr) return;
    if (column + 1 < g.columns) add(previous->vectors[block + 1]);
    if (row + 1 < g.rows) add(previous->vectors[block + g.columns]);
  }
  [[nodiscard]] std::span<const MotionVector> all() const { return {vectors_.data(), static_cast<std::size_t>(count_)}; }

 private:
  void add(MotionVector vector) { vectors_[static_cast<std::size_t>(count_++)] = vector; }

  std::array<MotionVector, 6> vectors_;
  int count_ = 0;
};

class PlainCoder final : public FrameCoder {
 public:
  PlainCoder(const CodingSettings& settings, const Kernels& kernels)
      : FrameCoder(kernels, Geometry(settings.width, settings.height)),
        search_range_(settings.search_range),
        searchers_(make_plane_searchers(settings, kernels, geometry_)) {}

  void begin(const FrameJob& job) override {
    FrameCoder::begin(job);
    if (job.plan->key) return;
    for (int p = 0; p < kPlanes; ++p) searchers_[p]->begin(job.current->plane(p), job.reference->plane(p));
  }

  void prepare_row(int mcu_row) override {
    for (int p = 0; p < kPlanes; ++p) {
      const int rows = rows_per_mcu(p);
      searchers_[p]->prepare_rows(mcu_row * rows, (mcu_row + 1) * rows);
    }
  }

  void prepare() override {
    for (const auto& searcher : searchers_) searcher->prepare();
  }

  std::uint64_t search_row(int mcu_row) override {
    std::uint64_t luma_sad = 0;
    for (int p = 0; p < kPlanes; ++p) {
      const std::uint64_t sad = search_row_of_plane(p, mcu_row);
      if (p == 0) luma_sad = sad;
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
  /// Sets the flags that say which blocks have a vector: all blocks of an inter frame, none of a key frame.
  void set_flags_of_row(int p, int mcu_row) {
    PlaneSyntax& plane = job().syntax->planes[p];
    const auto blocks = static_cast<std::size_t>(plane.geometry.columns) * static_cast<std::size_t>(block_rows_per_mcu(p));
    const std::size_t first = static_cast<std::size_t>(mcu_row) * blocks;
    std::fill_n(plane.uses_vector.data() + first, blocks, std::uint8_t{job().plan->key ? std::uint8_t{0} : std::uint8_t{1}});
    if (job().plan->key) std::fill_n(plane.vectors.data() + first, blocks, MotionVector{});
  }

  std::uint64_t search_row_of_plane(int p, int mcu_row) {
    PlaneSyntax& syntax = job().syntax->planes[p];
    const PlaneGeometry& g = syntax.geometry;
    BlockSearcher& method = *searchers_[p];
    const ConstPlaneView current = job().current->plane(p);
    const ConstPlaneView reference = job().reference->plane(p);
    const int rows = rows_per_mcu(p);
    const BlockSearcher::Row mine = method.begin_row(mcu_row * rows);
    const BlockSearcher& searcher = *mine.searcher;
    const BlockSearcher::PredictorSource wanted = searcher.wanted_predictors();
    const PredictionVectors::Plane* previous =
        wanted == BlockSearcher::PredictorSource::any_frame ? &job().before->plane(p) : nullptr;
    const int range = plane_search_range(search_range_, p);
    std::uint64_t sads = 0;
    for_each_block_of_mcu_row(g, p, mcu_row, [&](int block, int column, int row) {
      const int x = column * kBlockSize;
      const int y = row * kBlockSize;
      SearchWindow window = search_window(column, row, g.width, g.height, range);
      if (window.empty()) window = {x, y, x + 1, y + 1};  // there is no candidate, so only the zero vector is searched
      if (x % kCacheLine == 0 && y == mcu_row * rows) {   // the next MCU row will be the first to read these samples
        prefetch_lines(current, x, y + rows, y + 2 * rows);
        prefetch_lines(reference, x, y + rows + range, y + 2 * rows + range);
      }
      const VectorPredictors predictors = wanted == BlockSearcher::PredictorSource::none
                                              ? VectorPredictors()
                                              : VectorPredictors(syntax, previous, p, block, column, row);
      const BestCandidate best = searcher.search({window, x, y, predictors.all()});
      syntax.vectors[block] = {static_cast<std::int8_t>(best.x - x), static_cast<std::int8_t>(best.y - y)};
      sads += best.sad;
      if (job().motion != nullptr) (*job().motion)[p].sads[block] = static_cast<std::uint16_t>(best.sad);
    });
    method.end_row(mcu_row * rows, mine);
    return sads;
  }

  int search_range_;
  std::array<std::unique_ptr<BlockSearcher>, kPlanes> searchers_;
};

}  // namespace

std::unique_ptr<FrameCoder> make_plain_coder(const CodingSettings& settings, const Kernels& kernels) {
  return std::make_unique<PlainCoder>(settings, kernels);
}

}  // namespace c63::cpu
