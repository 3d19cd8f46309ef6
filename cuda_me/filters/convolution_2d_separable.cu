// 2-D convolution, last step, for kernels of two factors: the column factor over a tile in shared memory, then the row
// factor over its sums, 2K instead of K² products an output.
#include "cuda_me/filters/kernel_taps.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;

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
  constexpr int kWide = kTile + kMaxKernelSize - 1;
  __shared__ Sample tile[kWide][kWide + 1];
  __shared__ Tap sums[kTile][kWide + 1];
  const int size = factors.size;
  const int radius = size / 2;
  const int left = static_cast<int>(blockIdx.x) * kTile;
  const int top = static_cast<int>(blockIdx.y) * kTile;
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  for (int y = ty; y < kTile + 2 * radius; y += kRows) {
    for (int x = tx; x < kTile + 2 * radius; x += kTile) {
      tile[y][x] = sample_at(in, left + x - radius, top + y - radius);
    }
  }
  __syncthreads();
  for (int y = ty; y < kTile; y += kRows) {
    for (int x = tx; x < kTile + 2 * radius; x += kTile) {
      Tap total = 0;
      for (int j = 0; j < size; ++j) total += factors.column[j] * static_cast<Tap>(tile[y + size - 1 - j][x]);
      sums[y][x] = total;
    }
  }
  __syncthreads();
  const int x = left + tx;
  for (int row = ty; row < kTile; row += kRows) {
    const int y = top + row;
    if (x >= in.width || y >= in.height) return;
    Tap total = 0;
    for (int i = 0; i < size; ++i) total += factors.row[i] * sums[row][tx + size - 1 - i];
    out.data[y * out.pitch + x] = finish(total, factors.divisor);
  }
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
         {tiles_of(in.width, in.height, kTile, kTile), dim3(kTile, kRows)}, queue.stream(), in, factors, out);
}

template void convolve_2d_separable(FilterQueue&, ConstPlaneView, const ByteKernel&, PlaneView);
template void convolve_2d_separable(FilterQueue&, BasicPlaneView<const float>, const FloatKernel&,
                                    BasicPlaneView<float>);

}  // namespace c63::cuda::kernels
