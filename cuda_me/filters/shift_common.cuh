#pragma once

#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/whitening_kernels.h"

namespace c63::cuda::kernels {

/// 2g, 2h and 5m of an inner sample.
template <typename Sample>
struct Derivatives {
  using Value = std::conditional_t<std::is_same_v<Sample, float>, float, int>;
  Value g, h, m;
};

template <typename Sample>
[[nodiscard]] __device__ Derivatives<Sample> derivatives_at(BasicPlaneView<const Sample> r, int x, int y) {
  const Sample* middle = r.data + y * r.pitch + x;
  using Value = typename Derivatives<Sample>::Value;
  const Value above = middle[-r.pitch], below = middle[r.pitch], left = middle[-1], right = middle[1];
  return {below - above, right - left, static_cast<Value>(*middle) + above + below + left + right};
}

/// The sum over a warp, in lane 0.
template <typename V>
[[nodiscard]] __device__ V warp_sum(V value) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xFFFFFFFFU, value, by);
  return value;
}

#if __CUDA_ARCH__ >= 800
/// Of ints, in one instruction.
[[nodiscard]] __device__ inline int warp_sum(int value) { return __reduce_add_sync(0xFFFFFFFFU, value); }
#endif

}  // namespace c63::cuda::kernels
