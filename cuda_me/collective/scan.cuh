#pragma once

// Computes prefix sums on the device, for the kernels of the filters and of the encoder: over the lanes of a warp, and
// over many values of a warp. Also adds up all values before those of a thread block.

#include <cstdint>

#include "cuda_me/collective/reduce.cuh"

namespace c63::cuda {

/// Returns inclusive prefix sums over groups of `width` neighbouring lanes, where `width` is a power of two. `lane` is
/// the index of the lane in its group. The whole warp takes part.
template <int width = 32, typename T>
[[nodiscard]] __device__ __forceinline__ T scan_lanes(T value, int lane) {
#pragma unroll
  for (int by = 1; by < width; by *= 2) {
    const T lower = __shfl_up_sync(kFullWarp, value, static_cast<unsigned>(by), width);
    if (lane >= by) value += lower;
  }
  return value;
}

/// Computes prefix sums of a warp's values. In round r, each lane has four neighbouring values v[r], so the warp has
/// 128 values in a round. Replaces each v[r] by the inclusive prefix sums of these four values alone. Sets before[r] to
/// the sum of all values of the warp that come before v[r]. Returns the sum of all values of the warp. All lanes take
/// part.
template <int rounds>
__device__ __forceinline__ unsigned scan_warp(uint4 (&v)[rounds], unsigned (&before)[rounds], int lane) {
  unsigned carry = 0;
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    v[r].y += v[r].x;
    v[r].z += v[r].y;
    v[r].w += v[r].z;
    const unsigned through = scan_lanes(v[r].w, lane);
    before[r] = carry + through - v[r].w;
    carry += __shfl_sync(kFullWarp, through, 31);
  }
  return carry;
}

/// Returns the sum of the values before `index` to all threads of the block. All of them take part. For arrays of some
/// thousands of values: then it is faster that every block adds up the values before its own than that another kernel
/// scans the array first.
template <int threads>
[[nodiscard]] __device__ unsigned long long scan_before(const std::uint32_t* values, int index) {
  unsigned long long own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < index; i += threads) own += values[i];
  return reduce_block<Adding<unsigned long long>, threads>(own);
}

/// Stores four neighbouring results of a scan in out[i] to out[i + 3], but nothing from out[count] on. `v` has the
/// inclusive prefix sums of the four values alone, and `base` is the sum of all values before them. If `whole` is true,
/// out[i] is 16-byte aligned and all four results exist. They are then stored at once, without keeping them in the
/// caches.
__device__ __forceinline__ void store_scanned(std::uint32_t* out, std::size_t i, std::size_t count, bool whole,
                                              unsigned base, uint4 v, bool inclusive) {
  const uint4 result = inclusive ? make_uint4(base + v.x, base + v.y, base + v.z, base + v.w)
                                 : make_uint4(base, base + v.x, base + v.y, base + v.z);
  if (whole) {
    __stcs(reinterpret_cast<uint4*>(out + i), result);
  } else {
    if (i < count) out[i] = result.x;
    if (i + 1 < count) out[i + 1] = result.y;
    if (i + 2 < count) out[i + 2] = result.z;
    if (i + 3 < count) out[i + 3] = result.w;
  }
}

}  // namespace c63::cuda
