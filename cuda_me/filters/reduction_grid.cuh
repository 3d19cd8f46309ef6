#pragma once

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/filters/reduction_ops.cuh"

namespace c63::cuda::kernels {

/// Combines the results of all threads of the grid. Each thread block stores its result in `partials`. The one that
/// finishes last combines these in a fixed order. `*finished` must be zero before, and is zero again afterwards.
template <typename Op, int threads>
__device__ __forceinline__ void reduce_grid(typename Op::Partial mine, typename Op::Partial* partials,
                                            unsigned* finished, typename Op::Result* result) {
  mine = reduce_block<Op, threads>(mine);
  if (gridDim.x == 1) {
    if (threadIdx.x == 0) *result = Op::result(mine);
    return;
  }
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = mine;
    __threadfence();
    last = atomicAdd(finished, 1U) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  mine = Op::none();
  for (unsigned b = threadIdx.x; b < gridDim.x; b += threads) mine = Op::combine(mine, partials[b]);
  mine = reduce_block<Op, threads>(mine);
  if (threadIdx.x == 0) {
    *result = Op::result(mine);
    *finished = 0;
  }
}

}  // namespace c63::cuda::kernels
