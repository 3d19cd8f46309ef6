// 2-D convolution, variant `direct`: for a kernel of K x K taps, every output reads K² samples from global memory.
#include "cuda_me/filters/kernel_taps.cuh"

namespace c63::cuda::kernels {
namespace {

template <typename Sample, typename Tap>
__global__ void convolution_2d_direct(BasicPlaneView<const Sample> in, const Tap* taps, int size, Tap divisor,
                                      BasicPlaneView<Sample> out) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= in.width || y >= in.height) return;
  Tap total = 0;
  for (int j = 0; j < size; ++j) {
    for (int i = 0; i < size; ++i) {
      total += taps[j * size + i] * static_cast<Tap>(sample_at(in, x + size / 2 - i, y + size / 2 - j));
    }
  }
  out.data[y * out.pitch + x] = finish(total, divisor);
}

}  // namespace

template <typename Sample, typename Tap>
void convolve_2d_direct(FilterQueue& queue, BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel,
                        BasicPlaneView<Sample> out) {
  const Tap* taps = store(queue, kernel);
  launch("convolution_2d_direct", convolution_2d_direct<Sample, Tap>,
         {tiles_of(in.width, in.height, 32, 8), dim3(32, 8)}, queue.stream(), in, taps, kernel.size, kernel.divisor, out);
}

template void convolve_2d_direct(FilterQueue&, ConstPlaneView, const ByteKernel&, PlaneView);
template void convolve_2d_direct(FilterQueue&, BasicPlaneView<const float>, const FloatKernel&, BasicPlaneView<float>);

}  // namespace c63::cuda::kernels
