// Reduction by trees in shared memory. Each thread block reduces its share. Then one more thread block reduces these
// results. In variant `tree_interleaved`, a round with distance s combines the results of threads 2s·k and 2s·k + s. So
// after a few rounds, every warp has only a few working threads. In `tree_sequential`, each thread of the first half
// combines its result with one of the second half. So whole warps become idle.
#include "cuda_me/filters/reduction_ops.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr unsigned kThreads = 256;

template <typename Op>
__device__ typename Op::Partial reduce_in_tree(typename Op::Partial mine, bool interleaved) {
  __shared__ typename Op::Partial partials[kThreads];
  const unsigned t = threadIdx.x;
  partials[t] = mine;
  __syncthreads();
  if (interleaved) {
    for (unsigned s = 1; s < kThreads; s *= 2) {
      if (t % (2 * s) == 0) partials[t] = Op::combine(partials[t], partials[t + s]);
      __syncthreads();
    }
  } else {
    for (unsigned s = kThreads / 2; s > 0; s /= 2) {
      if (t < s) partials[t] = Op::combine(partials[t], partials[t + s]);
      __syncthreads();
    }
  }
  return partials[0];
}

template <typename Op, typename T>
__global__ void reduction_tree(const T* values, std::size_t count, typename Op::Partial* out, bool interleaved) {
  const auto total = reduce_in_tree<Op>(reduce_strided<Op>(values, count), interleaved);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

template <typename Op>
__global__ void reduction_tree_end(const typename Op::Partial* partials, unsigned count, typename Op::Result* result,
                                   bool interleaved) {
  typename Op::Partial mine = Op::none();
  for (unsigned i = threadIdx.x; i < count; i += kThreads) mine = Op::combine(mine, partials[i]);
  const auto total = reduce_in_tree<Op>(mine, interleaved);
  if (threadIdx.x == 0) *result = Op::result(total);
}

}  // namespace

template <Reduction kind, typename T, typename Result>
void reduce_tree(FilterQueue& queue, std::span<const T> values, Result* result, bool interleaved) {
  using Op = ReductionOp<kind, T>;
  const dim3 grid = grid_for(queue, values.size(), kThreads * 4, 8);
  auto* partials = static_cast<typename Op::Partial*>(queue.scratch(grid.x * sizeof(typename Op::Partial)));
  launch("reduction_tree", reduction_tree<Op, T>, {grid, dim3(kThreads)}, queue.stream(), values.data(), values.size(),
         partials, interleaved);
  launch("reduction_tree_end", reduction_tree_end<Op>, {dim3(1), dim3(kThreads)}, queue.stream(), partials, grid.x,
         result, interleaved);
}

#define C63_INSTANTIATE(kind, T, Result) \
  template void reduce_tree<kind, T, Result>(FilterQueue&, std::span<const T>, Result*, bool);
C63_FOR_REDUCTIONS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
