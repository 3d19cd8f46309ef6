#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <span>
#include <string_view>

#include "cuda_me/kernels/rate_frame.h"

namespace c63::cuda {

/// The ways to search by SAD and what vectors cost; all find the same. They fill RateScratch::found and found_costs of the
/// inter frames of a group.
enum class CostSearchKernel {
  warp,       ///< a warp a block, every lane keeps a list of its best
  eliminate,  ///< successive elimination by the sums of 4x4 squares, the rest compared
};

/// A row of the list of kernels.
struct CostSearchInfo {
  CostSearchKernel kernel;
  std::string_view name;
  std::string_view idea;
  void (*enqueue)(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
};

/// All kernels, in the order in which they build on each other; the last is the one to use.
[[nodiscard]] std::span<const CostSearchInfo> cost_search_kernels();
[[nodiscard]] inline const CostSearchInfo& best_cost_search() { return cost_search_kernels().back(); }

// One a file.
void enqueue_cost_search_warp(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_cost_search_eliminate(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);

}  // namespace c63::cuda
