#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "c63/cuda/filters.h"

// Functions that launch kernels of filters whose variants are in several files: those by CUB, and scans of words. Their
// callers have already checked the sizes.

namespace c63::cuda::kernels {

/// The most bytes that are counted in one call of CUB, so that its 32-bit counters and offsets cannot overflow.
inline constexpr std::size_t kCubHistogramBytes = std::size_t{1} << 30;
/// If `temporary` is null, returns the bytes of temporary memory that CUB needs. Otherwise sets the 256 counts of at
/// most kCubHistogramBytes bytes. Counters have 32 bits, as in CUB's own benchmarks. With counters of 64 bits, CUB is
/// several times slower.
std::size_t histogram_cub(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint32_t* counts,
                          void* temporary, std::size_t temporary_bytes);

enum class Reduction { sum, minimum, maximum, argmin, argmax };

// The type `Result` is SumOf<T> for sums, T for minima and maxima, and uint64 for their indices (argmin, argmax).
template <Reduction kind, typename T, typename Result>
void reduce_cub(FilterQueue& queue, std::span<const T> values, Result* result);

// Integers are added as unsigned ones, because sums may overflow, which is undefined for signed integers.
template <typename T>
using Adder = std::conditional_t<std::is_floating_point_v<T>, T, std::uint32_t>;

/// Only if can_scan_rounds() says so: it depends on the device and on the data's alignment.
void scan_rounds(FilterQueue& queue, const std::uint32_t* values, std::uint32_t* out, std::size_t count, bool inclusive);
[[nodiscard]] bool can_scan_rounds(const std::uint32_t* values, const std::uint32_t* out);
template <typename T>
void scan_cub(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive);

}  // namespace c63::cuda::kernels
