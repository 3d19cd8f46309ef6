#pragma once

// Reduces values on the device to one value, such as their sum. The kernels of the filters and of the encoder call
// these functions for the lanes of a warp or for a thread block. An operation `Op` has a type Partial for results of a
// part of the values. Op::none() is the result of no values. Op::combine() combines two results, in any order.

#include <cuda_runtime.h>

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

}  // namespace c63::cuda
