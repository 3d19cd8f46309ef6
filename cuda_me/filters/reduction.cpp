// Reductions on a GPU: checks arguments and chooses the kernel.
#include <string>

#include "c63/cuda/filters.h"
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_kernels.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {
namespace {

using kernels::Reduction;

template <Reduction kind, typename T, typename Result>
void reduce(FilterQueue& queue, std::span<const T> values, Result* result, ReductionVariant variant) {
  switch (variant) {
    case ReductionVariant::one_thread: return kernels::reduce_one_thread<kind>(queue, values, result);
    case ReductionVariant::one_block: return kernels::reduce_one_block<kind>(queue, values, result);
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
