#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <string_view>

#include "cuda_me/kernels/rate_frame.h"

namespace c63::cuda {

/// The kernels that search by SAD plus vector cost (the bits of the vector, in units of SAD). All find the same
/// vectors. They fill RateScratch::found and found_costs of a group's inter frames.
enum class CostSearchKernel {
  warp,       ///< a warp per block, each lane keeps a list of its best candidates
  eliminate,  ///< sums of 4x4 squares rule out most candidates; the rest are compared in full
};

/// One kernel in the list that cost_search_kernels() returns.
struct CostSearchInfo {
  CostSearchKernel kernel;
  std::string_view name;
  std::string_view idea;
  void (*enqueue)(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
};

/// All kernels. The encoder uses the last one.
[[nodiscard]] std::span<const CostSearchInfo> cost_search_kernels();
[[nodiscard]] inline const CostSearchInfo& best_cost_search() { return cost_search_kernels().back(); }

// The functions of the kernels, each in its own file.
void enqueue_cost_search_warp(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);
void enqueue_cost_search_eliminate(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);

}  // namespace c63::cuda
