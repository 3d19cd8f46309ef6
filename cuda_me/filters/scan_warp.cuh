#pragma once

#include <cstdint>

namespace c63::cuda::kernels {

/// Scans a warp's values, which lie in rounds of 128, four neighbours a lane: each four become their own prefixes, and
/// `before` what the warp has before them. Returns the warp's sum. All lanes take part.
template <int rounds>
__device__ __forceinline__ unsigned scan_warp(uint4 (&v)[rounds], unsigned (&before)[rounds], int lane) {
  unsigned carry = 0;
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    v[r].y += v[r].x;
    v[r].z += v[r].y;
    v[r].w += v[r].z;
    unsigned through = v[r].w;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
      const unsigned lower = __shfl_up_sync(0xFFFFFFFFU, through, by);
      if (lane >= by) through += lower;
    }
    before[r] = carry + through - v[r].w;
    carry += __shfl_sync(0xFFFFFFFFU, through, 31);
  }
  return carry;
}

}  // namespace c63::cuda::kernels
