#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda_me/kernels/motion_common.cuh"

namespace c63::cuda {

/// The smallest keys that a thread has seen, in ascending order. A key is a cost and a candidate in one word.
template <int kCount>
struct KeyList {
  std::uint32_t keys[kCount];

  __device__ KeyList() {
#pragma unroll
    for (std::uint32_t& key : keys) key = kNoCandidate;
  }
  __device__ __forceinline__ void insert(std::uint32_t key) {
    if (key >= keys[kCount - 1]) return;
#pragma unroll
    for (std::uint32_t& at : keys) {
      const std::uint32_t larger = max(at, key);
      at = min(at, key);
      key = larger;
    }
  }
  /// Removes and returns the smallest key of all lanes. No two lanes may have the same key. The whole warp takes part.
  __device__ __forceinline__ std::uint32_t take_smallest() {
    const std::uint32_t smallest = warp_min(keys[0]);
    if (keys[0] == smallest) {
#pragma unroll
      for (int i = 0; i + 1 < kCount; ++i) keys[i] = keys[i + 1];
      keys[kCount - 1] = kNoCandidate;
    }
    return smallest;
  }
};

}  // namespace c63::cuda
