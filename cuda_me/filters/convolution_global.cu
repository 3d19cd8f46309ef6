// 1-D convolution, variant `global`: reads every input value and every tap (a factor of the kernel) from global memory.
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

__global__ void store_taps(const __grid_constant__ Taps taps, double* out) {
  for (int k = static_cast<int>(threadIdx.x); k < taps.count; k += static_cast<int>(blockDim.x)) out[k] = taps.value[k];
}

__global__ void convolution_global(const double* signal, std::size_t count, const double* taps, int tap_count,
                                   double* out) {
  const std::size_t i = global_thread();
  if (i >= count) return;
  double total = 0;
  for (int k = 0; k < tap_count; ++k) {
    const std::size_t at = i + static_cast<std::size_t>(tap_count / 2 - k);
    if (at < count) total += taps[k] * signal[at];
  }
  out[i] = total;
}

}  // namespace

void convolve_global(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out) {
  auto* stored = static_cast<double*>(queue.scratch(kMaxTaps * sizeof(double)));
  launch("store_taps", store_taps, {dim3(1), dim3(256)}, queue.stream(), taps, stored);
  launch("convolution_global", convolution_global,
         {dim3(static_cast<unsigned>(divide_up(signal.size(), 256))), dim3(256)}, queue.stream(), signal.data(),
         signal.size(), stored, taps.count, out);
}

}  // namespace c63::cuda::kernels
