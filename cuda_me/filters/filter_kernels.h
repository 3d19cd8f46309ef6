#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "c63/cuda/filters.h"

// Functions that launch the kernels of the filters, one or more for each variant. They are defined in the .cu files of
// this folder. Their callers, in the .cpp files, have already checked the sizes.

namespace c63::cuda::kernels {

/// The taps of a 1-D convolution as a kernel parameter, which is in constant memory.
struct Taps {
  int count = 0;
  double value[kMaxTaps];
};

void convolve_global(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out);
void convolve_constant(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out);
void convolve_shared(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out);
/// Only for 3 to 11 taps and 16-byte aligned data; see can_convolve_tuned().
void convolve_tuned(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out);
[[nodiscard]] bool can_convolve_tuned(std::span<const double> signal, const Taps& taps, const double* out);

template <typename Sample, typename Tap>
void convolve_2d_direct(FilterQueue& queue, BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel,
                        BasicPlaneView<Sample> out);
template <typename Sample, typename Tap>
void convolve_2d_shared(FilterQueue& queue, BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel,
                        BasicPlaneView<Sample> out, bool restrict_taps);
template <typename Sample, typename Tap>
void convolve_2d_separable(FilterQueue& queue, BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel,
                           BasicPlaneView<Sample> out);

// These functions add to 256 counts, one per byte value. The counts must be zero at first.
void histogram_sections(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint64_t* counts);
void histogram_interleaved(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint64_t* counts);
void histogram_privatized(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint64_t* counts);
/// The most bytes that are counted in one call of CUB, so that its 32-bit counters and offsets cannot overflow.
inline constexpr std::size_t kCubHistogramBytes = std::size_t{1} << 30;
/// If `temporary` is null, returns the bytes of temporary memory that CUB needs. Otherwise sets the 256 counts of at
/// most kCubHistogramBytes bytes. Counters have 32 bits, as in CUB's own benchmarks. With counters of 64 bits, CUB is
/// several times slower.
std::size_t histogram_cub(FilterQueue& queue, std::span<const std::uint8_t> bytes, std::uint32_t* counts,
                          void* temporary, std::size_t temporary_bytes);
/// Converts counts of byte values to counts of bins. Adds to the bins' counts if `add` is true; otherwise sets them.
template <typename Count>
void map_counts(FilterQueue& queue, const Count* values, const BinMap& map, std::uint64_t* counts, bool add);

enum class Reduction { sum, minimum, maximum, argmin, argmax };

// The type `Result` is SumOf<T> for sums, T for minima and maxima, and uint64 for their indices (argmin, argmax).
template <Reduction kind, typename T, typename Result>
void reduce_one_thread(FilterQueue& queue, std::span<const T> values, Result* result);
template <Reduction kind, typename T, typename Result>
void reduce_one_block(FilterQueue& queue, std::span<const T> values, Result* result);
template <Reduction kind, typename T, typename Result>
void reduce_atomics(FilterQueue& queue, std::span<const T> values, Result* result);
template <Reduction kind, typename T, typename Result>
void reduce_tree(FilterQueue& queue, std::span<const T> values, Result* result, bool interleaved);
template <Reduction kind, typename T, typename Result>
void reduce_shuffles(FilterQueue& queue, std::span<const T> values, Result* result);
/// Sets `result` to Σ (a[i] − b[i])². There must be at least one value.
void reduce_errors(FilterQueue& queue, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                   std::uint64_t* result);
template <Reduction kind, typename T, typename Result>
void reduce_cub(FilterQueue& queue, std::span<const T> values, Result* result);

template <typename T>
void scan_hillis_steele(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive);
template <typename T>
void scan_blelloch(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive, bool padded);
template <typename T>
void scan_many_blocks(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive);
void scan_look_back(FilterQueue& queue, const std::uint32_t* values, std::uint32_t* out, std::size_t count,
                    bool inclusive);
/// Only for sm_90 and 16-byte aligned data; see can_scan_rounds().
void scan_rounds(FilterQueue& queue, const std::uint32_t* values, std::uint32_t* out, std::size_t count, bool inclusive);
[[nodiscard]] bool can_scan_rounds(const std::uint32_t* values, const std::uint32_t* out);
template <typename T>
void scan_cub(FilterQueue& queue, std::span<const T> values, T* out, bool inclusive);

void multiply_direct(FilterQueue& queue, BasicPlaneView<const float> a, BasicPlaneView<const float> b,
                     BasicPlaneView<float> c);
void multiply_shared(FilterQueue& queue, BasicPlaneView<const float> a, BasicPlaneView<const float> b,
                     BasicPlaneView<float> c);
void multiply_registers(FilterQueue& queue, BasicPlaneView<const float> a, BasicPlaneView<const float> b,
                        BasicPlaneView<float> c);

}  // namespace c63::cuda::kernels
