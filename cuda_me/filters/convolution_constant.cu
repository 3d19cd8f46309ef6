// 1-D convolution, variant `constant_taps`: the taps (the kernel's factors) are in constant memory. All threads of a
// warp read the same tap at once.
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

__global__ void convolution_constant(const double* signal, std::size_t count, const __grid_constant__ Taps taps,
                                     double* out) {
  const std::size_t i = global_thread();
  if (i >= count) return;
  double total = 0;
  for (int k = 0; k < taps.count; ++k) {
    const std::size_t at = i + static_cast<std::size_t>(taps.count / 2 - k);
    if (at < count) total += taps.value[k] * signal[at];
  }
  out[i] = total;
}

}  // namespace

void convolve_constant(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out) {
  launch("convolution_constant", convolution_constant,
         {dim3(static_cast<unsigned>(divide_up(signal.size(), 256))), dim3(256)}, queue.stream(), signal.data(),
         signal.size(), taps, out);
}

}  // namespace c63::cuda::kernels
