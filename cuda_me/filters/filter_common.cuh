#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda_me/filters/filter_kernels.h"
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

/// atomicAdd() for the 64-bit integers of <cstdint>, for which CUDA has no overload.
__device__ inline void atomic_add(std::uint64_t* to, std::uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
__device__ inline void atomic_add(std::int64_t* to, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
__device__ inline void atomic_add(double* to, double value) { atomicAdd(to, value); }

}  // namespace c63::cuda::kernels
