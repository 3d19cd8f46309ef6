#pragma once

// What the kernels of filters share, and the functions that launch variants of another file. Their callers have already
// checked the sizes.

#include <algorithm>
#include <cstdint>

#include "c63/cuda/filters.h"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda::kernels {

/// Returns the size of a grid for `items` items with `per_block` items per block, but at most `per_multiprocessor`
/// blocks per multiprocessor. If there are more items, each thread loops over them, with a stride of the whole grid.
[[nodiscard]] inline std::size_t grid_for(const FilterQueue& queue, std::size_t items, std::size_t per_block,
                                   int per_multiprocessor) {
  const auto most = static_cast<std::size_t>(queue.multiprocessors()) * static_cast<std::size_t>(per_multiprocessor);
  return std::clamp<std::size_t>(divide_up(items, per_block), 1, most);
}

[[nodiscard]] inline bool is_aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

[[nodiscard]] __device__ inline std::size_t global_thread() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
[[nodiscard]] __device__ inline std::size_t global_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

/// The taps of a filter as a kernel parameter, which is in constant memory.
template <typename Tap, std::size_t kMost>
struct Taps {
  explicit Taps(std::span<const Tap> taps) : count(static_cast<int>(taps.size())) { std::ranges::copy(taps, value); }
  int count;
  Tap value[kMost];
};

template <typename Tap, std::size_t kMost>
__global__ void store_taps(const __grid_constant__ Taps<Tap, kMost> taps, Tap* out) {
  for (int k = static_cast<int>(threadIdx.x); k < taps.count; k += static_cast<int>(blockDim.x)) out[k] = taps.value[k];
}

/// Stores the taps in device memory, for the variants that read them there. They are passed as a kernel parameter, so
/// this also works in a graph.
template <typename Tap, std::size_t kMost>
[[nodiscard]] Tap* stored(FilterQueue& queue, const Taps<Tap, kMost>& taps) {
  auto* to = static_cast<Tap*>(queue.scratch(kMost * sizeof(Tap)));
  launch(store_taps<Tap, kMost>, {1, 256}, queue.stream(), taps, to);
  return to;
}

/// atomicAdd() for the 64-bit integers of <cstdint>, for which CUDA has no overload.
__device__ inline void atomic_add(std::uint64_t* to, std::uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
__device__ inline void atomic_add(std::int64_t* to, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
__device__ inline void atomic_add(double* to, double value) { atomicAdd(to, value); }

/// The most bytes that are counted in one call of CUB, so that its 32-bit counters and offsets cannot overflow.
inline constexpr std::size_t kCubHistogramBytes = std::size_t{1} << 30;
/// If `temporary` is null, returns the bytes of temporary memory that CUB needs. Otherwise sets the 256 counts of at
/// most kCubHistogramBytes bytes. Counters have 32 bits, as in CUB's own benchmarks. With counters of 64 bits, CUB is
/// several times slower.
std::size_t histogram_cub(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint32_t* counts,
                          void* temporary, std::size_t temporary_bytes);

enum class Reduction { sum, minimum, maximum, argmin, argmax };

// The type `Result` is SumOf<T> for sums, T for minima and maxima, and uint64 for their indices (argmin, argmax).
template <Reduction kind, typename T, typename Result>
void reduce_cub(FilterQueue& queue, std::span<const T> values, Result* result);

// Integers are added as unsigned ones, because sums may overflow, which is undefined for signed integers.
template <typename T>
using Adder = std::conditional_t<std::is_floating_point_v<T>, T, std::uint32_t>;

void scan_look_back(FilterQueue& queue, const std::uint32_t* values, std::uint32_t* out, std::size_t count,
                    bool inclusive);
/// Only if can_scan_rounds() says so: it depends on the device and on the data's alignment.
void scan_rounds(FilterQueue& queue, const std::uint32_t* values, std::uint32_t* out, std::size_t count,
                 bool inclusive);
[[nodiscard]] bool can_scan_rounds(const std::uint32_t* values, const std::uint32_t* out);
template <typename T>
void scan_cub(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive);

}  // namespace c63::cuda::kernels
