// 1-D convolution on a GPU, in all variants.
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

using SignalTaps = Taps<double, kMaxTaps>;

/// Output i. Input values before and after the signal are 0.
__device__ double convolved_at(const double* signal, std::size_t count, const double* taps, int tap_count,
                               std::size_t i) {
  double total = 0;
  for (int k = 0; k < tap_count; ++k) {
    const std::size_t at = i + static_cast<std::size_t>(tap_count / 2 - k);
    if (at < count) total += taps[k] * signal[at];
  }
  return total;
}

// 1-D convolution, variant `global`: reads every input value and every tap (a factor of the kernel) from global memory.

__global__ void convolution_global(const double* signal, std::size_t count, const double* taps, int tap_count,
                                   double* out) {
  const std::size_t i = global_thread();
  if (i < count) out[i] = convolved_at(signal, count, taps, tap_count, i);
}

// 1-D convolution, variant `constant_taps`: the taps (the kernel's factors) are in constant memory. All threads of a
// warp read the same tap at once.

__global__ void convolution_constant(const double* signal, std::size_t count, const __grid_constant__ SignalTaps taps,
                                     double* out) {
  const std::size_t i = global_thread();
  if (i < count) out[i] = convolved_at(signal, count, taps.value, taps.count, i);
}

// 1-D convolution, variant `shared_tile`: the taps (the kernel's factors) are in constant memory. The input values that
// a thread block needs are in shared memory. They reach past its outputs on both sides.

constexpr int kThreads = 256;

__global__ void convolution_shared(const double* signal, std::size_t count, const __grid_constant__ SignalTaps taps,
                                   double* out) {
  __shared__ double tile[kThreads + kMaxTaps];
  const int radius = taps.count / 2;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kThreads;
  for (int j = static_cast<int>(threadIdx.x); j < kThreads + 2 * radius; j += kThreads) {
    const std::size_t at = first + static_cast<std::size_t>(j) - static_cast<std::size_t>(radius);
    tile[j] = at < count ? signal[at] : 0.0;
  }
  __syncthreads();
  const std::size_t i = first + threadIdx.x;
  if (i >= count) return;
  const double* middle = tile + threadIdx.x + 2 * radius;
  double total = 0;
  for (int k = 0; k < taps.count; ++k) total += taps.value[k] * middle[-k];
  out[i] = total;
}

// 1-D convolution, variant `tuned`, for kernels of 3 to 11 taps (factors). Their number is known at compile time. A
// thread keeps the values around its outputs in registers. Loads and stores move 16 bytes, except at the end of the
// input.

constexpr int kPairs = 4;  // a thread has 8 outputs: 4 pairs, each 2 * kThreads values after the previous one

template <int kTaps>
struct FewTaps {
  double value[kTaps];
};

/// Returns signal[i] and signal[i + 1], with zeros for indices from `count` on. `i` must be even.
__device__ double2 load_pair(const double* signal, std::size_t count, std::size_t i) {
  if (i + 1 < count) return __ldg(reinterpret_cast<const double2*>(signal + i));
  return make_double2(i < count ? signal[i] : 0.0, 0.0);
}

template <int kTaps>
__global__ void __launch_bounds__(kThreads) convolution_tuned(const double* __restrict__ signal, std::size_t count,
                                                              const __grid_constant__ FewTaps<kTaps> taps,
                                                              double* __restrict__ out) {
  constexpr int kRadius = kTaps / 2;
  constexpr int kLead = (kRadius + 1) / 2;  // pairs of input values on each side of the pair at the outputs' place
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * (2 * kThreads * kPairs) + 2 * threadIdx.x;
  double x[kPairs][2 * (2 * kLead + 1)];
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
#pragma unroll
    for (int j = 0; j <= 2 * kLead; ++j) {
      // Before the signal's start, the unsigned index wraps around and exceeds `count`. So load_pair() returns zeros
      // there, too.
      const std::size_t i = first + static_cast<std::size_t>(2 * kThreads * p + 2 * (j - kLead));
      const double2 pair = load_pair(signal, count, i);
      x[p][2 * j] = pair.x;
      x[p][2 * j + 1] = pair.y;
    }
  }
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
    double2 total = make_double2(0, 0);
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
      total.x += taps.value[k] * x[p][2 * kLead + kRadius - k];
      total.y += taps.value[k] * x[p][2 * kLead + 1 + kRadius - k];
    }
    const std::size_t i = first + static_cast<std::size_t>(2 * kThreads * p);
    if (i + 1 < count) {
      __stcs(reinterpret_cast<double2*>(out + i), total);
    } else if (i < count) {
      out[i] = total.x;
    }
  }
}

template <int kTaps>
void run(FilterQueue& queue, std::span<const double> signal, const SignalTaps& taps, double* out) {
  FewTaps<kTaps> few;
  for (int k = 0; k < kTaps; ++k) few.value[k] = taps.value[k];
  launch(convolution_tuned<kTaps>, {divide_up(signal.size(), 2 * kThreads * kPairs), kThreads}, queue.stream(),
         signal.data(), signal.size(), few, out);
}

bool can_convolve_tuned(std::span<const double> signal, const SignalTaps& taps, const double* out) {
  return taps.count >= 3 && taps.count <= 11 && is_aligned(signal.data(), 16) && is_aligned(out, 16);
}

void convolve_tuned(FilterQueue& queue, std::span<const double> signal, const SignalTaps& taps, double* out) {
  switch (taps.count) {
    case 3: return run<3>(queue, signal, taps, out);
    case 5: return run<5>(queue, signal, taps, out);
    case 7: return run<7>(queue, signal, taps, out);
    case 9: return run<9>(queue, signal, taps, out);
    default: return run<11>(queue, signal, taps, out);
  }
}

}  // namespace
}  // namespace c63::cuda::kernels

namespace c63::cuda {
void convolve(FilterQueue& queue, std::span<const double> signal, std::span<const double> taps, std::span<double> out,
              ConvolutionVariant variant) {
  check_taps(taps);
  check_same_length(signal.size(), "the signal", out.size(), "the output");
  check_apart(signal.data(), signal.size_bytes(), out.data(), out.size_bytes());
  if (signal.empty()) return;
  const kernels::SignalTaps argument(taps);
  const auto run = [&](auto kernel, int threads, const auto&... taps_of_kernel) {
    launch(kernel, {divide_up(signal.size(), threads), threads}, queue.stream(), signal.data(), signal.size(),
           taps_of_kernel..., out.data());
  };
  switch (variant) {
    case ConvolutionVariant::global:
      return run(kernels::convolution_global, 256, kernels::stored(queue, argument), argument.count);
    case ConvolutionVariant::constant_taps: return run(kernels::convolution_constant, 256, argument);
    case ConvolutionVariant::best:
    case ConvolutionVariant::tuned:
      if (kernels::can_convolve_tuned(signal, argument, out.data())) {
        return kernels::convolve_tuned(queue, signal, argument, out.data());
      }
      [[fallthrough]];
    case ConvolutionVariant::shared_tile: return run(kernels::convolution_shared, kernels::kThreads, argument);
  }
}

void mean_filter(FilterQueue& queue, std::span<const double> signal, int width, std::span<double> out,
                 ConvolutionVariant variant) {
  convolve(queue, signal, mean_taps(width), out, variant);
}

}  // namespace c63::cuda
