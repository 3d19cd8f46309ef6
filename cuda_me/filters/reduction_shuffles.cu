// Reduction, variant `shuffles`, in one launch: threads load 16 bytes at a time, then warps reduce in registers. The
// thread block that finishes last combines the results of all thread blocks. The order is fixed, so sums of floats are
// the same in every run.
#include "cuda_me/filters/reduction_grid.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 512;

template <typename T>
struct alignas(16) Values16 {
  static constexpr int kCount = 16 / sizeof(T);
  T value[kCount];
};

template <typename Op, typename T>
__device__ typename Op::Partial combine_all(typename Op::Partial mine, uint4 raw, std::size_t index) {
  const auto v = *reinterpret_cast<const Values16<T>*>(&raw);
#pragma unroll
  for (int k = 0; k < Values16<T>::kCount; ++k) {
    mine = Op::combine(mine, Op::of(v.value[k], index + static_cast<std::size_t>(k)));
  }
  return mine;
}

/// Loads vectors of 16 bytes. `head` values come before the first address that is a multiple of 16.
template <typename Op, typename T>
__global__ void __launch_bounds__(kThreads)
    reduction_shuffles(const T* __restrict__ values, std::size_t head, std::size_t count,
                       typename Op::Partial* partials, unsigned* finished, typename Op::Result* result) {
  constexpr int kAhead = 4;  // loads in flight per thread
  constexpr std::size_t kEach = Values16<T>::kCount;
  const auto* vectors = reinterpret_cast<const uint4*>(values + head);
  const std::size_t vector_count = (count - head) / kEach;
  const std::size_t stride = global_threads();
  typename Op::Partial mine = Op::none();
  std::size_t i = global_thread();
  for (; i + (kAhead - 1) * stride < vector_count; i += kAhead * stride) {
    uint4 v[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) v[k] = __ldg(vectors + i + static_cast<std::size_t>(k) * stride);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      mine = combine_all<Op, T>(mine, v[k], head + (i + static_cast<std::size_t>(k) * stride) * kEach);
    }
  }
  for (; i < vector_count; i += stride) mine = combine_all<Op, T>(mine, __ldg(vectors + i), head + i * kEach);
  for (std::size_t k = global_thread(); k < head; k += stride) mine = Op::combine(mine, Op::of(values[k], k));
  for (std::size_t k = head + vector_count * kEach + global_thread(); k < count; k += stride) {
    mine = Op::combine(mine, Op::of(values[k], k));
  }
  reduce_grid<Op, kThreads>(mine, partials, finished, result);
}

}  // namespace

template <Reduction kind, typename T, typename Result>
void reduce_shuffles(FilterQueue& queue, std::span<const T> values, Result* result) {
  using Op = ReductionOp<kind, T>;
  const std::size_t to_line = (16 - reinterpret_cast<std::uintptr_t>(values.data()) % 16) % 16 / sizeof(T);
  const dim3 grid = grid_for(queue, values.size() * sizeof(T), kThreads * 16, 4);
  auto* partials = static_cast<typename Op::Partial*>(queue.scratch(grid.x * sizeof(typename Op::Partial)));
  launch("reduction_shuffles", reduction_shuffles<Op, T>, {grid, dim3(kThreads)}, queue.stream(), values.data(),
         std::min(to_line, values.size()), values.size(), partials, static_cast<unsigned*>(queue.zeros()), result);
}

#define C63_INSTANTIATE(kind, T, Result) \
  template void reduce_shuffles<kind, T, Result>(FilterQueue&, std::span<const T>, Result*);
C63_FOR_REDUCTIONS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
