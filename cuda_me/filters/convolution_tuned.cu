// 1-D convolution, variant `tuned`, for kernels of 3 to 11 taps (factors). Their number is known at compile time. A
// thread keeps the values around its outputs in registers. Loads and stores move 16 bytes, except at the end of the
// input.
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 256;
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
void run(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out) {
  FewTaps<kTaps> few;
  for (int k = 0; k < kTaps; ++k) few.value[k] = taps.value[k];
  launch("convolution_tuned", convolution_tuned<kTaps>,
         {dim3(static_cast<unsigned>(divide_up(signal.size(), 2 * kThreads * kPairs))), dim3(kThreads)},
         queue.stream(), signal.data(), signal.size(), few, out);
}

}  // namespace

bool can_convolve_tuned(std::span<const double> signal, const Taps& taps, const double* out) {
  return taps.count >= 3 && taps.count <= 11 && is_aligned(signal.data(), 16) && is_aligned(out, 16);
}

void convolve_tuned(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out) {
  switch (taps.count) {
    case 3: return run<3>(queue, signal, taps, out);
    case 5: return run<5>(queue, signal, taps, out);
    case 7: return run<7>(queue, signal, taps, out);
    case 9: return run<9>(queue, signal, taps, out);
    default: return run<11>(queue, signal, taps, out);
  }
}

}  // namespace c63::cuda::kernels
