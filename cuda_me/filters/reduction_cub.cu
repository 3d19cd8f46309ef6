// Reduction by CUB, NVIDIA's library of such functions, for comparison.
#include <cub/device/device_reduce.cuh>

#include "cuda_me/filters/reduction_ops.cuh"

namespace c63::cuda::kernels {
namespace {

template <Reduction kind, typename T, typename Result>
void run(FilterQueue& queue, void* temporary, std::size_t& bytes, std::span<const T> values, Result* result,
         T* best) {
  const auto count = static_cast<std::int64_t>(values.size());
  if constexpr (kind == Reduction::sum) {
    check(cub::DeviceReduce::Reduce(temporary, bytes, values.data(), result, count, ::cuda::std::plus<>{}, Result{},
                                    queue.stream()),
          "cub::DeviceReduce::Reduce");
  } else if constexpr (kind == Reduction::minimum) {
    check(cub::DeviceReduce::Min(temporary, bytes, values.data(), result, count, queue.stream()),
          "cub::DeviceReduce::Min");
  } else if constexpr (kind == Reduction::maximum) {
    check(cub::DeviceReduce::Max(temporary, bytes, values.data(), result, count, queue.stream()),
          "cub::DeviceReduce::Max");
  } else if constexpr (kind == Reduction::argmin) {
    check(cub::DeviceReduce::ArgMin(temporary, bytes, values.data(), best, reinterpret_cast<std::int64_t*>(result), count,
                                    queue.stream()),
          "cub::DeviceReduce::ArgMin");
  } else {
    check(cub::DeviceReduce::ArgMax(temporary, bytes, values.data(), best, reinterpret_cast<std::int64_t*>(result), count,
                                    queue.stream()),
          "cub::DeviceReduce::ArgMax");
  }
}

}  // namespace

template <Reduction kind, typename T, typename Result>
void reduce_cub(FilterQueue& queue, std::span<const T> values, Result* result) {
  std::size_t bytes = 0;
  run<kind>(queue, nullptr, bytes, values, result, static_cast<T*>(nullptr));
  constexpr std::size_t kHead = 256;  // room for the minimum or maximum itself, which CUB also stores and nobody reads
  auto* memory = static_cast<std::uint8_t*>(queue.scratch(kHead + bytes));
  run<kind>(queue, memory + kHead, bytes, values, result, reinterpret_cast<T*>(memory));
}

#define C63_INSTANTIATE(kind, T, Result) \
  template void reduce_cub<kind, T, Result>(FilterQueue&, std::span<const T>, Result*);
C63_FOR_REDUCTIONS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
