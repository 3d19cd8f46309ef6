#include "cpu/frame_coder.h"

#include <algorithm>
#include <utility>

#include "c63/filters.h"
#include "codec/search_window.h"
#include "cpu/block_prediction.h"
#include "cpu/search_method.h"
#include "decide/weights.h"

namespace c63::cpu {
namespace {

/// Returns the squared error between two planes in one MCU.
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

}  // namespace

FrameCoder::FrameCoder(const CodingSettings& settings, const Kernels& kernels)
    : kernels_(kernels),
      geometry_(settings.width, settings.height) {
  auto searchers = make_plane_searchers(settings, kernels, geometry_);
  for (int p = 0; p < kPlanes; ++p) {
    searches_.emplace_back(std::move(searchers[static_cast<std::size_t>(p)]), kernels, geometry_.plane(p), block_rows_per_mcu(p),
                           plane_search_range(settings.search_range, p));
  }
}

void FrameCoder::begin(const FrameJob& job) {
  job_ = &job;
  const FramePlan& plan = *job.plan;
  for (int p = 0; p < kPlanes; ++p) {
    if (plan.tables[p] != tables_[p]) transforms_[p] = TransformTable(plan.tables[p], p);
    if (plan.key) {
      searches_[p].forget();
    } else if (by_rate()) {
      searches_[p].begin(job.current->plane(p), job.reference->plane(p), plan.rate);
    } else {
      searches_[p].begin(job.current->plane(p), job.reference->plane(p), nullptr);
    }
  }
  tables_ = plan.tables;
  if (by_rate()) make_level_tables();
}

void FrameCoder::make_level_tables() {
  const FramePlan& plan = *job().plan;
  weights_ = frame_weights(plan, job().current->plane(0));
  chroma_weights_ = chroma_weights(weights_, plan.rate.chroma_weight);
  const std::size_t count = weights_.empty() ? 1 : kWeights;
  if (levels_[0].size() == count && level_tables_ == plan.tables && lambda_ == plan.rate.lambda) return;
  // levels_ is assigned only when all tables are made. If it were filled step by step and memory ran out, the next
  // frame would take the incomplete tables for complete ones.
  decltype(levels_) levels;
  for (int p = 0; p < kPlanes; ++p) {
    for (std::size_t i = 0; i < count; ++i) {
      const Cost lambda = count == 1 ? plan.rate.lambda : weighted_lambda(plan.rate.lambda, static_cast<Weight>(i));
      levels[p].emplace_back(plan.tables[p], p, lambda);
    }
  }
  levels_ = std::move(levels);
  level_tables_ = plan.tables;
  lambda_ = plan.rate.lambda;
}

const Weight* FrameCoder::weights_of_row(int plane, int mcu_row) const {
  const FrameWeights& weights = plane == 0 ? weights_ : chroma_weights_;
  return weights.empty() ? nullptr : weights.data() + static_cast<std::ptrdiff_t>(mcu_row) * geometry_.mcu_columns();
}

void FrameCoder::prepare_row(int mcu_row) {
  for (int p = 0; p < kPlanes; ++p) {
    searches_[p].prepare_rows(mcu_row * rows_per_mcu(p), (mcu_row + 1) * rows_per_mcu(p));
  }
}

void FrameCoder::prepare() {
  for (PlaneSearch& search : searches_) search.prepare();
}

std::uint64_t FrameCoder::search_row(int mcu_row) {
  std::uint64_t luma_sad = 0;
  for (int p = 0; p < kPlanes; ++p) {
    const std::uint64_t sad = searches_[p].search_mcu_row(mcu_row);
    if (p == 0) luma_sad = sad;
  }
  return luma_sad;
}

std::int64_t FrameCoder::decide_row(int p, int mcu_row) {
  std::unique_ptr<RowDecider> decider;
  {
    const std::lock_guard lock(deciders_mutex_);
    if (!deciders_.empty()) {
      decider = std::move(deciders_.back());
      deciders_.pop_back();
    }
  }
  if (decider == nullptr) decider = std::make_unique<RowDecider>(kernels_, geometry_);
  const std::int64_t cost =
      decider->decide({.plane = p,
                       .mcu_row = mcu_row,
                       .current = job().current->plane(p),
                       .reference = job().reference->plane(p),
                       .search = job().plan->key ? nullptr : &searches_[p],
                       .rate = &job().plan->rate,
                       .levels = levels_[p].data(),
                       .weights = weights_of_row(p, mcu_row),
                       .inherited = job().inherited() != nullptr ? &job().inherited()->plane(p) : nullptr},
                      job().syntax->planes[p]);
  const std::lock_guard lock(deciders_mutex_);
  deciders_.push_back(std::move(decider));
  return cost;
}

std::int64_t FrameCoder::code_row(int mcu_row) {
  std::int64_t cost = 0;
  const bool searched = !by_rate() && !job().plan->key;  // every block has the vector that the search found
  FrameSyntax& syntax = *job().syntax;
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSyntax& plane = syntax.planes[p];
    const auto blocks = static_cast<std::size_t>(plane.geometry.columns) * static_cast<std::size_t>(block_rows_per_mcu(p));
    const std::size_t first = static_cast<std::size_t>(mcu_row) * blocks;
    std::fill_n(plane.uses_vector.data() + first, blocks, std::uint8_t{searched});
    if (searched) {
      std::copy_n(searches_[p].chosen() + first, blocks, plane.vectors.data() + first);
    } else {
      std::fill_n(plane.vectors.data() + first, blocks, MotionVector{});
    }
    if (by_rate()) cost += decide_row(p, mcu_row);
  }
  job().vectors->fill_row(syntax, job().inherited(), mcu_row);
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSyntax& plane = syntax.planes[p];
    const ConstPlaneView current = job().current->plane(p);
    const PlaneView reconstruction = job().reconstruction->plane(p);
    for_each_run_of_mcu_row(
        plane.geometry, *job().vectors, p, mcu_row, *job().reference, job().prediction,
        [&](int block, int column, int row, std::span<const BlockPrediction> predictions) {
          const int x = column * kBlockSize;
          const int y = row * kBlockSize;
          std::int16_t* const levels = plane.block(block);
          for (std::size_t i = 0; job().motion != nullptr && i < predictions.size(); ++i) {
            const std::uint32_t sad = kernels_.sad(&current.at(x, y) + i * kBlockSize, current.pitch, predictions[i].samples,
                                                   predictions[i].pitch);
            (*job().motion)[p].sads[static_cast<std::size_t>(block) + i] = static_cast<std::uint16_t>(sad);
          }
          if (!by_rate()) kernels_.transform_quantize(&current.at(x, y), current.pitch, predictions, transforms_[p], levels);
          kernels_.dequantize_reconstruct(levels, transforms_[p], predictions, &reconstruction.at(x, y),
                                          reconstruction.pitch);
        });
  }
  return cost;
}

std::uint64_t FrameCoder::repeat_error(int mcu_row) const {
  std::uint64_t error = 0;
  for (int p = 0; p < kPlanes; ++p) {
    const ConstPlaneView current = job().current->plane(p);
    const ConstPlaneView reference = job().reference->plane(p);
    if (const Weight* const weights = weights_of_row(p, mcu_row)) {
      for (int column = 0; column < geometry_.mcu_columns(); ++column) {
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

}  // namespace c63::cpu
