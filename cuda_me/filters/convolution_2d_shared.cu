// 2-D convolution, variants `shared_tile` and `restrict_taps`: for a kernel of K x K taps, a thread block with 32x32
// outputs reads its (32+K−1)² samples once, into shared memory. In `restrict_taps`, the taps are declared `const
// __restrict__`, so the compiler reads them through the read-only cache.
#include "cuda_me/filters/kernel_taps.cuh"

namespace c63::cuda::kernels {
namespace {

template <typename Sample, typename Tap>
__device__ void convolve_tile(BasicPlaneView<const Sample> in, const Tap* taps, int size, Tap divisor,
                              BasicPlaneView<Sample> out) {
  __shared__ SampleTile<Sample> tile;
  load_tile(in, size / 2, tile);
  store_tile(out, divisor, [&](int x, int y) {
    Tap total = 0;
    for (int j = 0; j < size; ++j) {
      for (int i = 0; i < size; ++i) {
        total += taps[j * size + i] * static_cast<Tap>(tile[y + size - 1 - j][x + size - 1 - i]);
      }
    }
    return total;
  });
}

template <typename Sample, typename Tap>
__global__ void convolution_2d_shared(BasicPlaneView<const Sample> in, Tap* taps, int size, Tap divisor,
                                      BasicPlaneView<Sample> out) {
  convolve_tile<Sample, Tap>(in, taps, size, divisor, out);
}

template <typename Sample, typename Tap>
__global__ void convolution_2d_restrict(BasicPlaneView<const Sample> in, const Tap* __restrict__ taps, int size,
                                        Tap divisor, BasicPlaneView<Sample> out) {
  convolve_tile<Sample, Tap>(in, taps, size, divisor, out);
}

}  // namespace

template <typename Sample, typename Tap>
void convolve_2d_shared(FilterQueue& queue, BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel,
                        BasicPlaneView<Sample> out, bool restrict_taps) {
  const Tap* taps = store(queue, kernel);
  const LaunchShape shape{tiles_of(in.width, in.height, kTile, kTile), dim3(kTile, kTileRows)};
  if (restrict_taps) {
    launch("convolution_2d_restrict", convolution_2d_restrict<Sample, Tap>, shape, queue.stream(), in, taps,
           kernel.size, kernel.divisor, out);
  } else {
    launch("convolution_2d_shared", convolution_2d_shared<Sample, Tap>, shape, queue.stream(), in,
           const_cast<Tap*>(taps), kernel.size, kernel.divisor, out);
  }
}

template void convolve_2d_shared(FilterQueue&, ConstPlaneView, const ByteKernel&, PlaneView, bool);
template void convolve_2d_shared(FilterQueue&, BasicPlaneView<const float>, const FloatKernel&, BasicPlaneView<float>,
                                 bool);

}  // namespace c63::cuda::kernels
