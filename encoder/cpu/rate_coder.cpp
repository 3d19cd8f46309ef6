#include "cpu/rate_coder.h"

#include <utility>

#include "codec/search_window.h"
#include "cpu/block_prediction.h"
#include "decide/activity_weights.h"

namespace c63::cpu {

RateCoder::RateCoder(const Kernels& kernels, const Geometry& geometry, int search_range)
    : geometry_(geometry),
      without_vector_(static_cast<std::size_t>(geometry.blocks())),
      deciders_([&kernels, geometry] { return RowDecider(kernels, geometry); }) {
  for (int p = 0; p < kPlanes; ++p) {
    searches_.emplace_back(kernels, geometry.plane(p), block_rows_per_mcu(p), plane_search_range(search_range, p));
  }
}

void RateCoder::begin(const FramePlan& plan, const PaddedPicture& current) {
  plan_ = &plan;
  weights_ = frame_weights(plan, current.plane(0));
  chroma_weights_ = chroma_weights(weights_, plan.rate.chroma_weight);
  const std::size_t count = weights_.empty() ? 1 : kWeights;
  if (levels_[0].size() == count && tables_ == plan.tables && lambda_ == plan.rate.lambda) return;
  // All three or none: memory may run short in between, and what is there is taken for complete.
  decltype(levels_) levels;
  for (int p = 0; p < kPlanes; ++p) {
    for (std::size_t i = 0; i < count; ++i) {
      const Cost lambda = count == 1 ? plan.rate.lambda : weighted_lambda(plan.rate.lambda, static_cast<Weight>(i));
      levels[p].emplace_back(plan.tables[p], p, lambda);
    }
  }
  levels_ = std::move(levels);
  tables_ = plan.tables;
  lambda_ = plan.rate.lambda;
}

const Weight* RateCoder::weights_of_row(int plane, int mcu_row) const {
  const FrameWeights& weights = plane == 0 ? weights_ : chroma_weights_;
  return weights.empty() ? nullptr : weights.data() + static_cast<std::ptrdiff_t>(mcu_row) * geometry_.mcu_columns();
}

void RateCoder::begin_search(const PaddedPicture& current, const PaddedPicture& reference) {
  for (int p = 0; p < kPlanes; ++p) searches_[p].begin(current.plane(p), reference.plane(p), plan_->rate);
}

void RateCoder::prepare_row(int mcu_row) {
  for (int p = 0; p < kPlanes; ++p) {
    searches_[p].prepare_rows(mcu_row * rows_per_mcu(p), (mcu_row + 1) * rows_per_mcu(p));
  }
}

std::uint64_t RateCoder::search_row(int mcu_row) {
  std::uint64_t luma_sad = 0;
  for (int p = 0; p < kPlanes; ++p) {
    for (int row = mcu_row * block_rows_per_mcu(p); row < (mcu_row + 1) * block_rows_per_mcu(p); ++row) {
      const std::uint64_t sad = searches_[p].search_block_row(row);
      if (p == 0) luma_sad += sad;
    }
  }
  return luma_sad;
}

std::int64_t RateCoder::decide_row(const PaddedPicture& current, const PaddedPicture& reference, int mcu_row,
                                   FrameSyntax& syntax) {
  std::int64_t cost = 0;
  const std::uint8_t* unpredicted = plan_->unpredicted ? plan_->unpredicted->data() : nullptr;
  std::uint8_t* without_vector = without_vector_.data();
  for (int p = 0; p < kPlanes; ++p) {
    cost += deciders_.local().decide({.plane = p,
                                      .mcu_row = mcu_row,
                                      .current = current.plane(p),
                                      .reference = reference.plane(p),
                                      .search = plan_->key ? nullptr : &searches_[p],
                                      .rate = &plan_->rate,
                                      .levels = levels_[p].data(),
                                      .weights = weights_of_row(p, mcu_row),
                                      .unpredicted = unpredicted,
                                      .without_vector = without_vector},
                                     syntax.planes[p]);
    if (unpredicted != nullptr) unpredicted += syntax.planes[p].geometry.blocks();
    without_vector += syntax.planes[p].geometry.blocks();
  }
  return cost;
}

}  // namespace c63::cpu
