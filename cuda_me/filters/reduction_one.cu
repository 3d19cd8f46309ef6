// Reduction by one thread block, two variants. In `one_thread`, a single thread does all. In `one_block`, each thread
// reduces its share, and thread 0 combines the results.
#include "cuda_me/filters/reduction_ops.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 512;

template <typename Op, typename T>
__global__ void reduction_one_thread(const T* values, std::size_t count, typename Op::Result* result) {
  *result = Op::result(reduce_strided<Op>(values, count));
}

template <typename Op, typename T>
__global__ void reduction_one_block(const T* values, std::size_t count, typename Op::Result* result) {
  __shared__ typename Op::Partial partials[kThreads];
  partials[threadIdx.x] = reduce_strided<Op>(values, count);
  __syncthreads();
  if (threadIdx.x != 0) return;
  typename Op::Partial total = partials[0];
  for (int i = 1; i < kThreads; ++i) total = Op::combine(total, partials[i]);
  *result = Op::result(total);
}

}  // namespace

template <Reduction kind, typename T, typename Result>
void reduce_one_thread(FilterQueue& queue, std::span<const T> values, Result* result) {
  launch("reduction_one_thread", reduction_one_thread<ReductionOp<kind, T>, T>, {dim3(1), dim3(1)}, queue.stream(),
         values.data(), values.size(), result);
}

template <Reduction kind, typename T, typename Result>
void reduce_one_block(FilterQueue& queue, std::span<const T> values, Result* result) {
  launch("reduction_one_block", reduction_one_block<ReductionOp<kind, T>, T>, {dim3(1), dim3(kThreads)},
         queue.stream(), values.data(), values.size(), result);
}

#define C63_INSTANTIATE(kind, T, Result)                                                        \
  template void reduce_one_thread<kind, T, Result>(FilterQueue&, std::span<const T>, Result*);  \
  template void reduce_one_block<kind, T, Result>(FilterQueue&, std::span<const T>, Result*);
C63_FOR_REDUCTIONS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
