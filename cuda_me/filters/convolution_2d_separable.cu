// 2-D convolution, variant `separable`, for kernels of K x K taps that are a product of two factors. Applies the column
// factor to a tile in shared memory, then the row factor to the results. This takes 2K instead of K² products per
// output.
#include "cuda_me/filters/kernel_taps.cuh"

namespace c63::cuda::kernels {
namespace {

template <typename Tap>
struct Factors {
  int size = 0;
  Tap divisor = Tap{1};
  Tap row[kMaxKernelSize];
  Tap column[kMaxKernelSize];
};

template <typename Sample, typename Tap>
__global__ void convolution_2d_separable(BasicPlaneView<const Sample> in, const __grid_constant__ Factors<Tap> factors,
                                         BasicPlaneView<Sample> out) {
  __shared__ SampleTile<Sample> tile;
  __shared__ Tap sums[kTile][kTileSamples + 1];
  const int size = factors.size;
  const int radius = size / 2;
  load_tile(in, radius, tile);
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kTileRows) {
    for (int x = static_cast<int>(threadIdx.x); x < kTile + 2 * radius; x += kTile) {
      Tap total = 0;
      for (int j = 0; j < size; ++j) total += factors.column[j] * static_cast<Tap>(tile[y + size - 1 - j][x]);
      sums[y][x] = total;
    }
  }
  __syncthreads();
  store_tile(out, factors.divisor, [&](int x, int y) {
    Tap total = 0;
    for (int i = 0; i < size; ++i) total += factors.row[i] * sums[y][x + size - 1 - i];
    return total;
  });
}

}  // namespace

template <typename Sample, typename Tap>
void convolve_2d_separable(FilterQueue& queue, BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel,
                           BasicPlaneView<Sample> out) {
  Factors<Tap> factors;
  factors.size = kernel.size;
  factors.divisor = kernel.divisor;
  std::copy(kernel.row.begin(), kernel.row.end(), factors.row);
  std::copy(kernel.column.begin(), kernel.column.end(), factors.column);
  launch("convolution_2d_separable", convolution_2d_separable<Sample, Tap>,
         {tiles_of(in.width, in.height, kTile, kTile), dim3(kTile, kTileRows)}, queue.stream(), in, factors, out);
}

template void convolve_2d_separable(FilterQueue&, ConstPlaneView, const ByteKernel&, PlaneView);
template void convolve_2d_separable(FilterQueue&, BasicPlaneView<const float>, const FloatKernel&,
                                    BasicPlaneView<float>);

}  // namespace c63::cuda::kernels
