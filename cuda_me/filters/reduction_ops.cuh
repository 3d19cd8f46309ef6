#pragma once

#include <cuda/std/limits>

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/filters/filter_common.cuh"

// The operations of reductions: how a value becomes a partial result, how two partial results are combined, and how the
// final result is made.

namespace c63::cuda::kernels {

template <Reduction kind, typename T>
struct ReductionOp;

template <typename T>
struct ReductionOp<Reduction::sum, T> : Adding<SumOf<T>> {
  using Partial = SumOf<T>;
  using Result = SumOf<T>;
  __device__ static Partial of(T value, std::size_t) { return static_cast<Partial>(value); }
  __device__ static Result result(Partial a) { return a; }
};

template <typename T>
struct ReductionOp<Reduction::minimum, T> {
  using Partial = T;
  using Result = T;
  __device__ static Partial none() {
    return ::cuda::std::numeric_limits<T>::has_infinity ? ::cuda::std::numeric_limits<T>::infinity()
                                                        : ::cuda::std::numeric_limits<T>::max();
  }
  __device__ static Partial of(T value, std::size_t) { return value; }
  __device__ static Partial combine(Partial a, Partial b) { return b < a ? b : a; }
  __device__ static Result result(Partial a) { return a; }
};

template <typename T>
struct ReductionOp<Reduction::maximum, T> {
  using Partial = T;
  using Result = T;
  __device__ static Partial none() {
    return ::cuda::std::numeric_limits<T>::has_infinity ? -::cuda::std::numeric_limits<T>::infinity()
                                                        : ::cuda::std::numeric_limits<T>::lowest();
  }
  __device__ static Partial of(T value, std::size_t) { return value; }
  __device__ static Partial combine(Partial a, Partial b) { return a < b ? b : a; }
  __device__ static Result result(Partial a) { return a; }
};

template <typename T>
struct Placed {
  T value;
  std::uint64_t index;
};

template <typename T>
struct ReductionOp<Reduction::argmin, T> {
  using Partial = Placed<T>;
  using Result = std::uint64_t;
  __device__ static Partial none() { return {ReductionOp<Reduction::minimum, T>::none(), ~std::uint64_t{0}}; }
  __device__ static Partial of(T value, std::size_t index) { return {value, index}; }
  __device__ static Partial combine(Partial a, Partial b) {
    return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
  __device__ static Result result(Partial a) { return a.index; }
};

template <typename T>
struct ReductionOp<Reduction::argmax, T> {
  using Partial = Placed<T>;
  using Result = std::uint64_t;
  __device__ static Partial none() { return {ReductionOp<Reduction::maximum, T>::none(), ~std::uint64_t{0}}; }
  __device__ static Partial of(T value, std::size_t index) { return {value, index}; }
  __device__ static Partial combine(Partial a, Partial b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
  __device__ static Result result(Partial a) { return a.index; }
};

/// Returns the partial result of the calling thread: that of every n-th value, if the grid has n threads.
template <typename Op, typename T>
[[nodiscard]] __device__ typename Op::Partial reduce_strided(const T* values, std::size_t count) {
  typename Op::Partial partial = Op::none();
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    partial = Op::combine(partial, Op::of(values[i], i));
  }
  return partial;
}

// Calls MACRO for every reduction of type T. Files with templates use this at their end to instantiate them.
#define C63_FOR_REDUCTIONS_OF(MACRO, T) \
  MACRO(Reduction::sum, T, SumOf<T>)    \
  MACRO(Reduction::minimum, T, T)       \
  MACRO(Reduction::maximum, T, T)       \
  MACRO(Reduction::argmin, T, std::uint64_t) \
  MACRO(Reduction::argmax, T, std::uint64_t)
#define C63_FOR_REDUCTIONS(MACRO)            \
  C63_FOR_REDUCTIONS_OF(MACRO, std::uint8_t) \
  C63_FOR_REDUCTIONS_OF(MACRO, std::int32_t) \
  C63_FOR_REDUCTIONS_OF(MACRO, float)        \
  C63_FOR_REDUCTIONS_OF(MACRO, double)

}  // namespace c63::cuda::kernels
