// Reductions on a GPU, in all variants.
#include <cuda/std/limits>
#include <string>

#include "c63/filter_checks.h"
#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

// How a value becomes a partial result, how two partial results are combined, and how the final result is made.

template <Reduction kind, typename T>
struct ReductionOp;

template <typename T>
struct ReductionOp<Reduction::sum, T> : Adding<SumOf<T>> {
  using Partial = SumOf<T>;
  using Result = SumOf<T>;
  __device__ static Partial of(T value, std::size_t) { return static_cast<Partial>(value); }
  __device__ static Result result(Partial a) { return a; }
};

/// The smallest or the largest value, and the value that every other one replaces.
template <bool largest, typename T>
struct Extreme {
  [[nodiscard]] __device__ static bool is_better(T a, T b) { return largest ? b < a : a < b; }
  [[nodiscard]] __device__ static T none() {
    using Limits = ::cuda::std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) return largest ? -Limits::infinity() : Limits::infinity();
    return largest ? Limits::lowest() : Limits::max();
  }
};

template <bool largest, typename T>
struct ValueOp {
  using Partial = T;
  using Result = T;
  __device__ static Partial none() { return Extreme<largest, T>::none(); }
  __device__ static Partial of(T value, std::size_t) { return value; }
  __device__ static Partial combine(Partial a, Partial b) { return Extreme<largest, T>::is_better(b, a) ? b : a; }
  __device__ static Result result(Partial a) { return a; }
};
template <typename T>
struct ReductionOp<Reduction::minimum, T> : ValueOp<false, T> {};
template <typename T>
struct ReductionOp<Reduction::maximum, T> : ValueOp<true, T> {};

template <typename T>
struct Placed {
  T value;
  std::uint64_t index;
};

template <bool largest, typename T>
struct PlaceOp {
  using Partial = Placed<T>;
  using Result = std::uint64_t;
  __device__ static Partial none() { return {Extreme<largest, T>::none(), ~std::uint64_t{0}}; }
  __device__ static Partial of(T value, std::size_t index) { return {value, index}; }
  __device__ static Partial combine(Partial a, Partial b) {
    return Extreme<largest, T>::is_better(b.value, a.value) || (b.value == a.value && b.index < a.index) ? b : a;
  }
  __device__ static Result result(Partial a) { return a.index; }
};
template <typename T>
struct ReductionOp<Reduction::argmin, T> : PlaceOp<false, T> {};
template <typename T>
struct ReductionOp<Reduction::argmax, T> : PlaceOp<true, T> {};

/// Returns the partial result of the calling thread: that of every n-th value, if the grid has n threads.
template <typename Op, typename T>
[[nodiscard]] __device__ typename Op::Partial reduce_strided(const T* values, std::size_t count) {
  typename Op::Partial partial = Op::none();
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    partial = Op::combine(partial, Op::of(values[i], i));
  }
  return partial;
}

constexpr int kFewThreads = 256;
constexpr int kManyThreads = 512;

// Reduction by one thread block, two variants. In `one_thread`, a single thread does all. In `one_block`, each thread
// reduces its share, and thread 0 combines the results.

template <typename Op, typename T>
__global__ void reduction_one_thread(const T* values, std::size_t count, typename Op::Result* result) {
  *result = Op::result(reduce_strided<Op>(values, count));
}

template <typename Op, typename T>
__global__ void reduction_one_block(const T* values, std::size_t count, typename Op::Result* result) {
  __shared__ typename Op::Partial partials[kManyThreads];
  partials[threadIdx.x] = reduce_strided<Op>(values, count);
  __syncthreads();
  if (threadIdx.x != 0) return;
  typename Op::Partial total = partials[0];
  for (int i = 1; i < kManyThreads; ++i) total = Op::combine(total, partials[i]);
  *result = Op::result(total);
}

// Reduction by many thread blocks: every thread combines its result with the total by an atomic operation. For minima
// and maxima, the atomic operation compares keys: unsigned integers in the same order as the values. For the index of a
// minimum or maximum, a second kernel searches the values for its key.

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

template <Reduction kind, typename T, typename Result>
void reduce_atomics(FilterQueue& queue, std::span<const T> values, Result* result) {
  const LaunchShape shape{grid_for(queue, values.size(), kFewThreads, 8), kFewThreads};
  if constexpr (kind == Reduction::sum) {
    fill_async(result, 0, sizeof(Result), queue.stream());
    launch(sum_atomics<T>, shape, queue.stream(), values.data(), values.size(), result);
  } else {
    const std::uint64_t flip = kind == Reduction::maximum || kind == Reduction::argmax ? ~std::uint64_t{0} : 0;
    auto* key = static_cast<std::uint64_t*>(queue.scratch(sizeof(std::uint64_t)));
    fill_async(key, 255, sizeof(std::uint64_t), queue.stream());
    launch(minimum_atomics<T>, shape, queue.stream(), values.data(), values.size(), flip, key);
    if constexpr (kind == Reduction::argmin || kind == Reduction::argmax) {
      fill_async(result, 255, sizeof(std::uint64_t), queue.stream());
      launch(place_atomics<T>, shape, queue.stream(), values.data(), values.size(), flip, key, result);
    } else {
      launch(store_value<T>, {1, 1}, queue.stream(), key, flip, result);
    }
  }
}

// Reduction by trees in shared memory. Each thread block reduces its share. Then one more thread block reduces these
// results. In variant `tree_interleaved`, a round with distance s combines the results of threads 2s·k and 2s·k + s. So
// after a few rounds, every warp has only a few working threads. In `tree_sequential`, each thread of the first half
// combines its result with one of the second half. So whole warps become idle.

constexpr unsigned kTreeThreads = 256;

template <typename Op>
__device__ typename Op::Partial reduce_in_tree(typename Op::Partial mine, bool interleaved) {
  __shared__ typename Op::Partial partials[kTreeThreads];
  const unsigned t = threadIdx.x;
  partials[t] = mine;
  __syncthreads();
  if (interleaved) {
    for (unsigned s = 1; s < kTreeThreads; s *= 2) {
      if (t % (2 * s) == 0) partials[t] = Op::combine(partials[t], partials[t + s]);
      __syncthreads();
    }
  } else {
    for (unsigned s = kTreeThreads / 2; s > 0; s /= 2) {
      if (t < s) partials[t] = Op::combine(partials[t], partials[t + s]);
      __syncthreads();
    }
  }
  return partials[0];
}

template <typename Op, typename T>
__global__ void reduction_tree(const T* values, std::size_t count, typename Op::Partial* out, bool interleaved) {
  const auto total = reduce_in_tree<Op>(reduce_strided<Op>(values, count), interleaved);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

template <typename Op>
__global__ void reduction_tree_end(const typename Op::Partial* partials, unsigned count, typename Op::Result* result,
                                   bool interleaved) {
  typename Op::Partial mine = Op::none();
  for (unsigned i = threadIdx.x; i < count; i += kTreeThreads) mine = Op::combine(mine, partials[i]);
  const auto total = reduce_in_tree<Op>(mine, interleaved);
  if (threadIdx.x == 0) *result = Op::result(total);
}

template <Reduction kind, typename T, typename Result>
void reduce_tree(FilterQueue& queue, std::span<const T> values, Result* result, bool interleaved) {
  using Op = ReductionOp<kind, T>;
  const std::size_t grid = grid_for(queue, values.size(), kTreeThreads * 4, 8);
  auto* partials = static_cast<typename Op::Partial*>(queue.scratch(grid * sizeof(typename Op::Partial)));
  launch(reduction_tree<Op, T>, {grid, kTreeThreads}, queue.stream(), values.data(), values.size(), partials,
         interleaved);
  launch(reduction_tree_end<Op>, {1, kTreeThreads}, queue.stream(), partials, grid, result, interleaved);
}

/// Combines the results of all threads of the grid. Each thread block stores its result in `partials`. The one that
/// finishes last combines these in a fixed order. `*finished` must be zero before, and is zero again afterwards.
template <typename Op, int threads>
__device__ __forceinline__ void reduce_grid(typename Op::Partial mine, typename Op::Partial* partials,
                                            unsigned* finished, typename Op::Result* result) {
  mine = reduce_block<Op, threads>(mine);
  if (gridDim.x == 1) {
    if (threadIdx.x == 0) *result = Op::result(mine);
    return;
  }
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = mine;
    __threadfence();
    last = atomicAdd(finished, 1U) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  mine = Op::none();
  for (unsigned b = threadIdx.x; b < gridDim.x; b += threads) mine = Op::combine(mine, partials[b]);
  mine = reduce_block<Op, threads>(mine);
  if (threadIdx.x == 0) {
    *result = Op::result(mine);
    *finished = 0;
  }
}

// Reduction, variant `shuffles`, in one launch: threads load 16 bytes at a time, then warps reduce in registers. The
// thread block that finishes last combines the results of all thread blocks. The order is fixed, so sums of floats are
// the same in every run.

template <typename T>
struct alignas(16) Values16 {
  static constexpr int kCount = 16 / sizeof(T);
  T value[kCount];
};

template <typename Op, typename T>
__device__ typename Op::Partial combine_all(typename Op::Partial mine, uint4 raw, std::size_t index) {
  const auto v = *reinterpret_cast<const Values16<T>*>(&raw);
#pragma unroll
  for (int k = 0; k < Values16<T>::kCount; ++k) {
    mine = Op::combine(mine, Op::of(v.value[k], index + static_cast<std::size_t>(k)));
  }
  return mine;
}

/// Loads vectors of 16 bytes. `head` values come before the first address that is a multiple of 16.
template <typename Op, typename T>
__global__ void __launch_bounds__(kManyThreads)
    reduction_shuffles(const T* __restrict__ values, std::size_t head, std::size_t count,
                       typename Op::Partial* partials, unsigned* finished, typename Op::Result* result) {
  constexpr int kAhead = 4;  // loads in flight per thread
  constexpr std::size_t kEach = Values16<T>::kCount;
  const auto* vectors = reinterpret_cast<const uint4*>(values + head);
  const std::size_t vector_count = (count - head) / kEach;
  const std::size_t stride = global_threads();
  typename Op::Partial mine = Op::none();
  std::size_t i = global_thread();
  for (; i + (kAhead - 1) * stride < vector_count; i += kAhead * stride) {
    uint4 v[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) v[k] = __ldg(vectors + i + static_cast<std::size_t>(k) * stride);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      mine = combine_all<Op, T>(mine, v[k], head + (i + static_cast<std::size_t>(k) * stride) * kEach);
    }
  }
  for (; i < vector_count; i += stride) mine = combine_all<Op, T>(mine, __ldg(vectors + i), head + i * kEach);
  for (std::size_t k = global_thread(); k < head; k += stride) mine = Op::combine(mine, Op::of(values[k], k));
  for (std::size_t k = head + vector_count * kEach + global_thread(); k < count; k += stride) {
    mine = Op::combine(mine, Op::of(values[k], k));
  }
  reduce_grid<Op, kManyThreads>(mine, partials, finished, result);
}

template <Reduction kind, typename T, typename Result>
void reduce_shuffles(FilterQueue& queue, std::span<const T> values, Result* result) {
  using Op = ReductionOp<kind, T>;
  const std::size_t to_line = (16 - reinterpret_cast<std::uintptr_t>(values.data()) % 16) % 16 / sizeof(T);
  const std::size_t grid = grid_for(queue, values.size() * sizeof(T), kManyThreads * 16, 4);
  auto* partials = static_cast<typename Op::Partial*>(queue.scratch(grid * sizeof(typename Op::Partial)));
  launch(reduction_shuffles<Op, T>, {grid, kManyThreads}, queue.stream(), values.data(),
         std::min(to_line, values.size()), values.size(), partials, static_cast<unsigned*>(queue.zeros()), result);
}

// Computes the sum of squared differences of two arrays of bytes: a reduction in one launch, with four differences per
// instruction.

using ErrorOp = ReductionOp<Reduction::sum, std::uint8_t>;

/// `a` and `b` are read in vectors of 16 bytes. `head` bytes come before the first address that is a multiple of 16 in
/// both arrays. If there is no such address, `head` is `count`.
__global__ void __launch_bounds__(kManyThreads)
    reduction_errors(const std::uint8_t* __restrict__ a, const std::uint8_t* __restrict__ b, std::size_t head,
                     std::size_t count, std::uint64_t* partials, unsigned* finished, std::uint64_t* result) {
  const auto* a16 = reinterpret_cast<const uint4*>(a + head);
  const auto* b16 = reinterpret_cast<const uint4*>(b + head);
  const std::size_t vectors = (count - head) / sizeof(uint4);
  const std::size_t stride = global_threads();
  std::uint64_t sum = 0;
#pragma unroll 4
  for (std::size_t i = global_thread(); i < vectors; i += stride) {
    const uint4 x = __ldg(a16 + i);
    const uint4 y = __ldg(b16 + i);
    sum += add_squared_differences(
        x.x, y.x,
        add_squared_differences(x.y, y.y, add_squared_differences(x.z, y.z, add_squared_differences(x.w, y.w, 0U))));
  }
  const auto add_byte = [&](std::size_t i) {
    const int difference = static_cast<int>(a[i]) - b[i];
    sum += static_cast<std::uint64_t>(difference * difference);
  };
  for (std::size_t i = global_thread(); i < head; i += stride) add_byte(i);
  for (std::size_t i = head + vectors * sizeof(uint4) + global_thread(); i < count; i += stride) add_byte(i);
  reduce_grid<ErrorOp, kManyThreads>(sum, partials, finished, result);
}

void reduce_errors(FilterQueue& queue, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                   std::uint64_t* result) {
  const auto to_line = [](const std::uint8_t* p) { return (16 - reinterpret_cast<std::uintptr_t>(p) % 16) % 16; };
  const std::size_t head = to_line(a.data()) == to_line(b.data()) ? std::min(to_line(a.data()), a.size()) : a.size();
  const std::size_t grid = grid_for(queue, a.size(), kManyThreads * sizeof(uint4), 4);
  auto* partials = static_cast<std::uint64_t*>(queue.scratch(grid * sizeof(std::uint64_t)));
  launch(reduction_errors, {grid, kManyThreads}, queue.stream(), a.data(), b.data(), head, a.size(), partials,
         static_cast<unsigned*>(queue.zeros()), result);
}

}  // namespace
}  // namespace c63::cuda::kernels

namespace c63::cuda {
namespace {

using kernels::Reduction;

template <Reduction kind, typename T, typename Result>
void reduce(FilterQueue& queue, std::span<const T> values, Result* result, ReductionVariant variant) {
  using Op = kernels::ReductionOp<kind, T>;
  const auto run = [&](auto kernel, int threads) {
    launch(kernel, {1, threads}, queue.stream(), values.data(), values.size(), result);
  };
  switch (variant) {
    case ReductionVariant::one_thread: return run(kernels::reduction_one_thread<Op, T>, 1);
    case ReductionVariant::one_block: return run(kernels::reduction_one_block<Op, T>, kernels::kManyThreads);
    case ReductionVariant::atomics: return kernels::reduce_atomics<kind>(queue, values, result);
    case ReductionVariant::tree_interleaved: return kernels::reduce_tree<kind>(queue, values, result, true);
    case ReductionVariant::tree_sequential: return kernels::reduce_tree<kind>(queue, values, result, false);
    case ReductionVariant::cub: return kernels::reduce_cub<kind>(queue, values, result);
    default: return kernels::reduce_shuffles<kind>(queue, values, result);
  }
}

void require_values(std::size_t count, const char* what) {
  require(count != 0, "C63-FILTER-EMPTY", std::string("the ") + what + " of 0 values is not defined");
}

}  // namespace

template <typename T>
void sum(FilterQueue& queue, std::span<const T> values, SumOf<T>* result, ReductionVariant variant) {
  if (values.empty()) {
    fill_async(result, 0, sizeof *result, queue.stream());
    return;
  }
  reduce<Reduction::sum>(queue, values, result, variant);
}

template <typename T>
void minimum(FilterQueue& queue, std::span<const T> values, T* result, ReductionVariant variant) {
  require_values(values.size(), "minimum");
  reduce<Reduction::minimum>(queue, values, result, variant);
}

template <typename T>
void maximum(FilterQueue& queue, std::span<const T> values, T* result, ReductionVariant variant) {
  require_values(values.size(), "maximum");
  reduce<Reduction::maximum>(queue, values, result, variant);
}

template <typename T>
void argmin(FilterQueue& queue, std::span<const T> values, std::uint64_t* result, ReductionVariant variant) {
  require_values(values.size(), "place of the minimum");
  reduce<Reduction::argmin>(queue, values, result, variant);
}

template <typename T>
void argmax(FilterQueue& queue, std::span<const T> values, std::uint64_t* result, ReductionVariant variant) {
  require_values(values.size(), "place of the maximum");
  reduce<Reduction::argmax>(queue, values, result, variant);
}

void sum_of_squared_errors(FilterQueue& queue, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                           std::uint64_t* result) {
  check_same_length(a.size(), "a signal", b.size(), "another");
  if (a.empty()) {
    fill_async(result, 0, sizeof *result, queue.stream());
    return;
  }
  kernels::reduce_errors(queue, a, b, result);
}

#define C63_INSTANTIATE(T)                                                                         \
  template void sum<T>(FilterQueue&, std::span<const T>, SumOf<T>*, ReductionVariant);             \
  template void minimum<T>(FilterQueue&, std::span<const T>, T*, ReductionVariant);                \
  template void maximum<T>(FilterQueue&, std::span<const T>, T*, ReductionVariant);                \
  template void argmin<T>(FilterQueue&, std::span<const T>, std::uint64_t*, ReductionVariant);     \
  template void argmax<T>(FilterQueue&, std::span<const T>, std::uint64_t*, ReductionVariant);
C63_INSTANTIATE(std::uint8_t)
C63_INSTANTIATE(std::int32_t)
C63_INSTANTIATE(float)
C63_INSTANTIATE(double)
#undef C63_INSTANTIATE

}  // namespace c63::cuda
