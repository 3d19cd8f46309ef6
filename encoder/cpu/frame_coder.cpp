#include "cpu/frame_coder.h"

#include <algorithm>

#include "c63/filters.h"
#include "cpu/block_prediction.h"

namespace c63::cpu {
namespace {

/// Asks for a cache line of each of the rows [first, end): a large picture does not stay in the caches from frame to frame,
/// and the many short rows of a search window are more streams than a CPU foresees.
void prefetch_lines(ConstPlaneView plane, int x, int first, int end) {
  for (int y = first; y < std::min(end, plane.height); ++y) __builtin_prefetch(&plane.at(x, y), 0, 2);
}

constexpr int kCacheLine = 64;

/// The squared error between two planes of pictures in an MCU.
std::uint32_t mcu_error(ConstPlaneView a, ConstPlaneView b, int plane, int mcu_column, int mcu_row) {
  std::uint32_t error = 0;  // at most 256·255²
  const int side = rows_per_mcu(plane);
  for (int y = mcu_row * side; y < (mcu_row + 1) * side; ++y) {
    const std::uint8_t* const samples_a = &a.at(mcu_column * side, y);
    const std::uint8_t* const samples_b = &b.at(mcu_column * side, y);
    for (int x = 0; x < side; ++x) {
      const int difference = samples_a[x] - samples_b[x];
      error += static_cast<std::uint32_t>(difference * difference);
    }
  }
  return error;
}

/// Vectors that a block's own is probably close to.
class VectorPredictors {
 public:
  VectorPredictors() = default;
  /// Those of `syntax` that are known whichever rows are searched at the same time: left, and above in the same MCU row.
  /// Of `previous`, where it is given, that of the same block and those right of it and below.
  VectorPredictors(const PlaneSyntax& syntax, const PlaneSyntax* previous, int plane, int block, int column, int row) {
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

/// Which blocks a plan has coded without a vector.
class UnpredictedBlocks {
 public:
  UnpredictedBlocks(const FramePlan& plan, const Geometry& geometry)
      : mask_(plan.unpredicted ? plan.unpredicted->data() : nullptr) {
    for (int p = 1; p < kPlanes; ++p) first_[p] = first_[p - 1] + geometry.plane(p - 1).blocks();
  }
  [[nodiscard]] bool contains(int plane, int block) const { return mask_ != nullptr && mask_[first_[plane] + block] != 0; }

 private:
  const std::uint8_t* mask_;
  std::array<int, kPlanes> first_{};  ///< of each plane's blocks
};

}  // namespace

FrameCoder::FrameCoder(const CodingSettings& settings, const Kernels& kernels)
    : settings_(settings), kernels_(kernels), geometry_(settings.width, settings.height) {}

void FrameCoder::set_tables(const QuantizationTables& tables) {
  for (int p = 0; p < kPlanes; ++p) {
    if (tables[p] != tables_[p]) transforms_[p] = TransformTable(tables[p], p);
  }
  tables_ = tables;
}

Searchers FrameCoder::make_searchers() const {
  Searchers searchers;
  for (int p = 0; p < kPlanes; ++p) {
    searchers[p] = make_block_searcher(settings_.method, kernels_, geometry_.plane(p),
                                       plane_search_range(settings_.search_range, p));
  }
  return searchers;
}

void FrameCoder::begin_search(const FrameJob& job) const {
  if (job.rate != nullptr) return job.rate->begin_search(*job.current, *job.reference);
  for (int p = 0; p < kPlanes; ++p) (*job.searchers)[p]->begin(job.current->plane(p), job.reference->plane(p));
}

void FrameCoder::prepare_row(const FrameJob& job, int mcu_row) const {
  if (job.rate != nullptr) return job.rate->prepare_row(mcu_row);
  for (int p = 0; p < kPlanes; ++p) {
    const int rows = rows_per_mcu(p);
    (*job.searchers)[p]->prepare_rows(mcu_row * rows, (mcu_row + 1) * rows);
  }
}

void FrameCoder::prepare_search(const FrameJob& job) const {
  if (job.rate != nullptr) return;
  for (const auto& searcher : *job.searchers) searcher->prepare();
}

std::uint64_t FrameCoder::search_row(const FrameJob& job, int mcu_row) const {
  if (job.rate != nullptr) return job.rate->search_row(mcu_row);
  std::uint64_t luma_sad = 0;
  const UnpredictedBlocks unpredicted(*job.plan, geometry_);
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSyntax& syntax = job.syntax->planes[p];
    const PlaneGeometry& g = syntax.geometry;
    BlockSearcher& method = *(*job.searchers)[p];
    const ConstPlaneView current = job.current->plane(p);
    const ConstPlaneView reference = job.reference->plane(p);
    const int rows = rows_per_mcu(p);
    const BlockSearcher::Row mine = method.begin_row(mcu_row * rows);
    const BlockSearcher& searcher = *mine.searcher;
    const BlockSearcher::PredictorSource wanted = searcher.wanted_predictors();
    const PlaneSyntax* previous = wanted == BlockSearcher::PredictorSource::any_frame ? &job.previous->planes[p] : nullptr;
    const int range = plane_search_range(settings_.search_range, p);
    for_each_block_of_mcu_row(g, p, mcu_row, [&](int block, int column, int row) {
      syntax.vectors[block] = {};
      if (unpredicted.contains(p, block)) return;
      const int x = column * kBlockSize;
      const int y = row * kBlockSize;
      SearchWindow window = search_window(column, row, g.width, g.height, range);
      if (window.empty()) window = {x, y, x + 1, y + 1};  // nothing to choose from: the zero vector
      if (x % kCacheLine == 0 && y == mcu_row * rows) {  // what the next MCU row is the first to read
        prefetch_lines(current, x, y + rows, y + 2 * rows);
        prefetch_lines(reference, x, y + rows + range, y + 2 * rows + range);
      }
      const VectorPredictors predictors = wanted == BlockSearcher::PredictorSource::none ? VectorPredictors() : VectorPredictors(syntax, previous, p, block, column, row);
      const BestCandidate best = searcher.search({window, x, y, predictors.all()});
      syntax.vectors[block] = {static_cast<std::int8_t>(best.x - x), static_cast<std::int8_t>(best.y - y)};
      if (p == 0) luma_sad += best.sad;
      if (job.motion != nullptr) (*job.motion)[p].sads[block] = static_cast<std::uint16_t>(best.sad);
    });
    method.end_row(mcu_row * rows, mine);
  }
  return luma_sad;
}

void FrameCoder::begin_blocks(const FrameJob& job, int plane, int mcu_row) {
  const UnpredictedBlocks unpredicted(*job.plan, job.syntax->geometry);
  PlaneSyntax& syntax = job.syntax->planes[plane];
  for_each_block_of_mcu_row(syntax.geometry, plane, mcu_row, [&](int block, int, int) {
    const bool predicted = job.rate == nullptr && !job.plan->key && !unpredicted.contains(plane, block);
    syntax.uses_vector[block] = predicted ? 1 : 0;
    if (predicted) return;
    syntax.vectors[block] = {};
    if (job.inherited != nullptr) job.inherited->apply_to(*job.syntax, plane, static_cast<std::size_t>(block));
  });
}

std::int64_t FrameCoder::code_row(const FrameJob& job, int mcu_row) const {
  for (int p = 0; p < kPlanes; ++p) begin_blocks(job, p, mcu_row);
  const std::int64_t cost =
      job.rate != nullptr ? job.rate->decide_row(*job.current, *job.reference, mcu_row, *job.syntax) : 0;
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSyntax& syntax = job.syntax->planes[p];
    const ConstPlaneView current = job.current->plane(p);
    const PlaneView reconstruction = job.reconstruction->plane(p);
    for_each_run_of_mcu_row(
        *job.syntax, p, mcu_row, *job.reference, job.prediction,
        [&](int block, int column, int row, std::span<const BlockPrediction> predictions) {
          const int x = column * kBlockSize;
          const int y = row * kBlockSize;
          std::int16_t* const levels = syntax.block(block);
          if (job.rate == nullptr) {
            kernels_.transform_quantize(&current.at(x, y), current.pitch, predictions, transforms_[p], levels);
          }
          if (job.rate != nullptr && job.motion != nullptr) {
            for (std::size_t i = 0; i < predictions.size(); ++i) {
              const std::uint32_t sad = kernels_.sad(&current.at(x, y) + i * kBlockSize, current.pitch,
                                                     predictions[i].samples, predictions[i].pitch);
              (*job.motion)[p].sads[static_cast<std::size_t>(block) + i] = static_cast<std::uint16_t>(sad);
            }
          }
          kernels_.dequantize_reconstruct(levels, transforms_[p], predictions, &reconstruction.at(x, y), reconstruction.pitch);
        });
  }
  return cost;
}

std::uint64_t FrameCoder::repeat_error(const FrameJob& job, int mcu_row) {
  std::uint64_t error = 0;
  for (int p = 0; p < kPlanes; ++p) {
    const ConstPlaneView current = job.current->plane(p);
    const ConstPlaneView reference = job.reference->plane(p);
    if (const Weight* const weights = job.rate->weights_of_row(p, mcu_row)) {
      for (int column = 0; column < job.syntax->geometry.mcu_columns(); ++column) {
        const std::int64_t own = mcu_error(current, reference, p, column, mcu_row);
        error += static_cast<std::uint64_t>(reweigh(own, weights[column], kPlainWeight));
      }
      continue;
    }
    const int rows = rows_per_mcu(p);
    const auto samples = static_cast<std::size_t>(rows) * static_cast<std::size_t>(current.width);
    error += sum_of_squared_errors({current.row(mcu_row * rows), samples},
                                   {reference.row(mcu_row * rows), samples});
  }
  return error;
}

std::array<std::uint64_t, kPlanes> FrameCoder::measure_row(const FrameJob& job, int mcu_row) const {
  std::array<std::uint64_t, kPlanes> errors{};
  std::array<std::span<const std::uint8_t>, kPlanes> originals;
  if (!job.original.empty()) originals = split_planes(job.original, geometry_.width(), geometry_.height());
  for (int p = 0; p < kPlanes; ++p) {
    const auto original = job.original.empty() ? job.current->coded(p) : originals[static_cast<std::size_t>(p)];
    const PlaneGeometry g = geometry_.plane(p);
    const std::size_t step = static_cast<std::size_t>(rows_per_mcu(p)) * static_cast<std::size_t>(g.width);
    const std::size_t first = std::min(g.coded_samples, static_cast<std::size_t>(mcu_row) * step);
    const std::size_t end = std::min(g.coded_samples, first + step);
    errors[p] = sum_of_squared_errors(original.subspan(first, end - first),
                                      job.reconstruction->coded(p).subspan(first, end - first));
  }
  return errors;
}

}  // namespace c63::cpu
