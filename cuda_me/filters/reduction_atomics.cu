// Reduction by many thread blocks: every thread combines its result with the total by an atomic operation. For minima
// and maxima, the atomic operation compares keys: unsigned integers in the same order as the values. For the index of a
// minimum or maximum, a second kernel searches the values for its key.
#include "cuda_me/filters/reduction_ops.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 256;

__device__ std::uint64_t key_of(std::uint8_t value) { return value; }
__device__ std::uint64_t key_of(std::int32_t value) { return static_cast<std::uint32_t>(value) ^ 0x80000000U; }
__device__ std::uint64_t key_of(double value) {
  const double zeros_alike = value + 0.0;  // −0 becomes +0, because they are equal
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(zeros_alike));
  return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}
__device__ std::uint64_t key_of(float value) { return key_of(static_cast<double>(value)); }

template <typename T>
__device__ T value_of(std::uint64_t key) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return static_cast<T>(key);
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return static_cast<T>(static_cast<std::uint32_t>(key) ^ 0x80000000U);
  } else {
    const std::uint64_t bits = key >> 63 != 0 ? key & ~(std::uint64_t{1} << 63) : ~key;
    return static_cast<T>(__longlong_as_double(static_cast<long long>(bits)));
  }
}

__device__ void atomic_min(std::uint64_t* to, std::uint64_t value) {
  atomicMin(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}

template <typename T>
__global__ void sum_atomics(const T* values, std::size_t count, SumOf<T>* result) {
  atomic_add(result, reduce_strided<ReductionOp<Reduction::sum, T>>(values, count));
}

/// Finds the smallest key (key_of()) of the values. `flip` is 0, or has all bits set. Then keys are inverted, so this finds
/// the largest value.
template <typename T>
__global__ void minimum_atomics(const T* values, std::size_t count, std::uint64_t flip, std::uint64_t* key) {
  std::uint64_t smallest = ~std::uint64_t{0};
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    const std::uint64_t mine = key_of(values[i]) ^ flip;
    smallest = mine < smallest ? mine : smallest;
  }
  atomic_min(key, smallest);
}

template <typename T>
__global__ void place_atomics(const T* values, std::size_t count, std::uint64_t flip, const std::uint64_t* key,
                              std::uint64_t* place) {
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    if ((key_of(values[i]) ^ flip) == *key) {
      atomic_min(place, i);
      return;  // this thread's later matches have larger indices
    }
  }
}

template <typename T>
__global__ void store_value(const std::uint64_t* key, std::uint64_t flip, T* result) {
  *result = value_of<T>(*key ^ flip);
}

}  // namespace

template <Reduction kind, typename T, typename Result>
void reduce_atomics(FilterQueue& queue, std::span<const T> values, Result* result) {
  const LaunchShape shape{grid_for(queue, values.size(), kThreads, 8), dim3(kThreads)};
  if constexpr (kind == Reduction::sum) {
    fill_async(result, 0, sizeof(Result), queue.stream());
    launch("sum_atomics", sum_atomics<T>, shape, queue.stream(), values.data(), values.size(), result);
  } else {
    const std::uint64_t flip = kind == Reduction::maximum || kind == Reduction::argmax ? ~std::uint64_t{0} : 0;
    auto* key = static_cast<std::uint64_t*>(queue.scratch(sizeof(std::uint64_t)));
    fill_async(key, 255, sizeof(std::uint64_t), queue.stream());
    launch("minimum_atomics", minimum_atomics<T>, shape, queue.stream(), values.data(), values.size(), flip, key);
    if constexpr (kind == Reduction::argmin || kind == Reduction::argmax) {
      fill_async(result, 255, sizeof(std::uint64_t), queue.stream());
      launch("place_atomics", place_atomics<T>, shape, queue.stream(), values.data(), values.size(), flip, key,
             result);
    } else {
      launch("store_value", store_value<T>, {dim3(1), dim3(1)}, queue.stream(), key, flip, result);
    }
  }
}

#define C63_INSTANTIATE(kind, T, Result) \
  template void reduce_atomics<kind, T, Result>(FilterQueue&, std::span<const T>, Result*);
C63_FOR_REDUCTIONS(C63_INSTANTIATE)
#undef C63_INSTANTIATE

}  // namespace c63::cuda::kernels
