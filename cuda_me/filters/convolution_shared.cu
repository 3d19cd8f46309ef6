// 1-D convolution, variant `shared_tile`: the taps (the kernel's factors) are in constant memory. The input values that
// a thread block needs are in shared memory. They reach past its outputs on both sides.
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 256;

__global__ void convolution_shared(const double* signal, std::size_t count, const __grid_constant__ Taps taps,
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

}  // namespace

void convolve_shared(FilterQueue& queue, std::span<const double> signal, const Taps& taps, double* out) {
  launch("convolution_shared", convolution_shared,
         {dim3(static_cast<unsigned>(divide_up(signal.size(), kThreads))), dim3(kThreads)}, queue.stream(),
         signal.data(), signal.size(), taps, out);
}

}  // namespace c63::cuda::kernels
