#include "cuda_me/kernels/cost_search.h"

#include <array>

namespace c63::cuda {
namespace {

/// To add a kernel, add a row here. Tests go through this table.
constexpr std::array kCostSearches = {
    CostSearchInfo{CostSearchKernel::warp, "warp", "a warp per block, every lane keeps a list of its best",
                   enqueue_cost_search_warp},
    CostSearchInfo{CostSearchKernel::eliminate, "eliminate", "successive elimination: most candidates ruled out by four sums",
                   enqueue_cost_search_eliminate},
};

}  // namespace

std::span<const CostSearchInfo> cost_search_kernels() { return kCostSearches; }

}  // namespace c63::cuda
