#pragma once

// Reduces values on the device to one value, such as their sum, and computes prefix sums. The kernels of the filters and
// of the encoder call these functions for the lanes of a warp or for a thread block. An operation `Op` has a type Partial for results of a
// part of the values. Op::none() is the result of no values. Op::combine() combines two results, in any order.

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace c63::cuda {

inline constexpr unsigned kFullWarp = 0xFFFFFFFFU;

template <typename T>
struct Adding {
  using Partial = T;
  __device__ static Partial none() { return Partial{}; }
  __device__ static Partial combine(Partial a, Partial b) { return a + b; }
};

/// Exchanges values within a warp: lane n gets the value of lane n ^ by. The size of P must be a multiple of 4 bytes,
/// or less than 4 bytes.
template <typename P>
[[nodiscard]] __device__ __forceinline__ P shuffle_xor(P value, int by) {
  if constexpr (sizeof(P) < 4) {
    return static_cast<P>(__shfl_xor_sync(kFullWarp, static_cast<int>(value), by));
  } else {
    constexpr int kWords = sizeof(P) / 4;
    union Words {
      P value;
      int word[kWords];
      __device__ Words() {}
    } words;
    words.value = value;
#pragma unroll
    for (int i = 0; i < kWords; ++i) words.word[i] = __shfl_xor_sync(kFullWarp, words.word[i], by);
    return words.value;
  }
}

/// True if reduce_lanes() uses an instruction that does `Op` over a whole warp. It does so for sums of integers, from
/// sm_80 on.
template <typename Op>
inline constexpr bool kAddsByInstruction = [] {
#if __CUDA_ARCH__ >= 800
  return std::is_same_v<Op, Adding<typename Op::Partial>> && std::is_integral_v<typename Op::Partial>;
#else
  return false;
#endif
}();

/// Reduces over groups of `width` neighbouring lanes, where `width` is a power of two. Every lane gets its group's
/// result. The whole warp takes part.
template <typename Op, int width = 32>
[[nodiscard]] __device__ __forceinline__ typename Op::Partial reduce_lanes(typename Op::Partial mine) {
#if __CUDA_ARCH__ >= 800
  if constexpr (width == 32 && kAddsByInstruction<Op> && sizeof(mine) <= 4) {
    return static_cast<typename Op::Partial>(__reduce_add_sync(kFullWarp, mine));
  } else if constexpr (width == 32 && kAddsByInstruction<Op>) {
    // The instruction adds 32-bit numbers. So a 64-bit number is split into pieces of at most 27 bits. The sum of 32
    // pieces has at most 32 bits.
    constexpr unsigned kMask = (1U << 27) - 1;
    const auto bits = static_cast<unsigned long long>(mine);
    const unsigned long long low = __reduce_add_sync(kFullWarp, static_cast<unsigned>(bits) & kMask);
    const unsigned long long middle = __reduce_add_sync(kFullWarp, static_cast<unsigned>(bits >> 27) & kMask);
    const unsigned long long high = __reduce_add_sync(kFullWarp, static_cast<unsigned>(bits >> 54));
    return static_cast<typename Op::Partial>(low + (middle << 27) + (high << 54));
  } else
#endif
  {
#pragma unroll
    for (int by = width / 2; by > 0; by /= 2) mine = Op::combine(mine, shuffle_xor(mine, by));
    return mine;
  }
}

template <int width = 32, typename T>
[[nodiscard]] __device__ __forceinline__ T sum_of_lanes(T value) {
  return reduce_lanes<Adding<T>, width>(value);
}

/// Reduces over a thread block of `threads` threads, which is 32 times a power of two. All threads take part and get
/// the result. They must synchronize before the next call. The order is fixed, so sums of floats are the same in every
/// run.
template <typename Op, int threads>
[[nodiscard]] __device__ __forceinline__ typename Op::Partial reduce_block(typename Op::Partial mine) {
  constexpr int kWarps = threads / 32;
  static_assert(threads % 32 == 0 && (kWarps & (kWarps - 1)) == 0 && kWarps <= 32);
  __shared__ typename Op::Partial partials[kWarps];
  const unsigned lane = threadIdx.x % 32;
  mine = reduce_lanes<Op>(mine);
  if (lane == 0) partials[threadIdx.x / 32] = mine;
  __syncthreads();
  if constexpr (kAddsByInstruction<Op>) {
    return reduce_lanes<Op>(lane < kWarps ? partials[lane] : Op::none());
  } else {
    return reduce_lanes<Op, kWarps>(partials[lane % kWarps]);
  }
}

/// Returns `sum` plus the squared differences of four pairs of samples. `a` and `b` have one sample per byte.
[[nodiscard]] __device__ __forceinline__ unsigned add_squared_differences(unsigned a, unsigned b, unsigned sum) {
  const unsigned difference = __vabsdiffu4(a, b);
  return __dp4a(difference, difference, sum);
}

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
