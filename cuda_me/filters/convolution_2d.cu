// 2-D convolution on a GPU, in all variants.
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

__device__ std::uint8_t finish(std::int32_t total, std::int32_t divisor) {
  const std::int32_t rounded = total + divisor / 2;
  return rounded <= 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(min(rounded / divisor, 255));
}
__device__ float finish(float total, float divisor) { return total / divisor; }

template <typename Sample>
[[nodiscard]] __device__ Sample sample_at(BasicPlaneView<const Sample> in, int x, int y) {
  return x >= 0 && x < in.width && y >= 0 && y < in.height ? in.data[y * in.pitch + x] : Sample{0};
}

// A thread block computes kTile x kTile outputs. It loads each sample that these outputs need only once. A thread
// computes every kTileRows-th output of a column.
constexpr int kTile = 32;
constexpr int kTileRows = 8;
constexpr int kTileSamples = kTile + kMaxKernelSize - 1;  ///< per side of a tile, for the largest kernel

template <typename Sample>
using SampleTile = Sample[kTileSamples][kTileSamples + 1];

/// Loads the samples that the thread block's outputs need into `tile`. Sample (0, 0) of the tile is `radius` samples
/// left of and above the first output. Synchronizes the thread block.
template <typename Sample>
__device__ void load_tile(BasicPlaneView<const Sample> in, int radius, SampleTile<Sample>& tile) {
  const int left = static_cast<int>(blockIdx.x) * kTile - radius;
  const int top = static_cast<int>(blockIdx.y) * kTile - radius;
  for (int y = static_cast<int>(threadIdx.y); y < kTile + 2 * radius; y += kTileRows) {
    for (int x = static_cast<int>(threadIdx.x); x < kTile + 2 * radius; x += kTile) {
      tile[y][x] = sample_at(in, left + x, top + y);
    }
  }
  __syncthreads();
}

/// Calls compute(x, y) for each output of the thread, with positions relative to the thread block's first output.
/// Stores the results.
template <typename Sample, typename Tap, typename Compute>
__device__ void store_tile(BasicPlaneView<Sample> out, Tap divisor, const Compute& compute) {
  const int tx = static_cast<int>(threadIdx.x);
  const int x = static_cast<int>(blockIdx.x) * kTile + tx;
  for (int row = static_cast<int>(threadIdx.y); row < kTile; row += kTileRows) {
    const int y = static_cast<int>(blockIdx.y) * kTile + row;
    if (x >= out.width || y >= out.height) return;
    out.data[y * out.pitch + x] = finish(compute(tx, row), divisor);
  }
}

template <typename Sample>
[[nodiscard]] Sides tiles_of(BasicPlaneView<Sample> in, int tile_width, int tile_height) {
  return {divide_up(in.width, tile_width), divide_up(in.height, tile_height)};
}

// 2-D convolution, variant `direct`: for a kernel of K x K taps, every output reads K² samples from global memory.

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

// 2-D convolution, variants `shared_tile` and `restrict_taps`: for a kernel of K x K taps, a thread block with 32x32
// outputs reads its (32+K−1)² samples once, into shared memory. In `restrict_taps`, the taps are declared `const
// __restrict__`, so the compiler reads them through the read-only cache.

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

// 2-D convolution, variant `separable`, for kernels of K x K taps that are a product of two factors. Applies the column
// factor to a tile in shared memory, then the row factor to the results. This takes 2K instead of K² products per
// output.

template <typename Tap>
struct Factors {
  explicit Factors(const Kernel2d<Tap>& kernel) : size(kernel.size), divisor(kernel.divisor) {
    std::ranges::copy(kernel.row, row);
    std::ranges::copy(kernel.column, column);
  }
  int size;
  Tap divisor;
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
}  // namespace c63::cuda::kernels

namespace c63::cuda {
namespace {

template <typename Sample, typename Tap>
void convolve_picture(FilterQueue& queue, BasicPlaneView<const Sample> in, const Kernel2d<Tap>& kernel,
                      BasicPlaneView<Sample> out, Convolution2dVariant variant) {
  check_kernel(kernel);
  check_same_shape(in, "the picture", out, "the output");
  check_apart(in, out);
  if (variant == Convolution2dVariant::best) {
    variant = kernel.separable() ? Convolution2dVariant::separable : Convolution2dVariant::restrict_taps;
  }
  require(variant != Convolution2dVariant::separable || kernel.separable(), "C63-KERNEL-VALUE",
          "the variant 'separable' needs a kernel with factors");
  if (in.width == 0 || in.height == 0) return;
  const LaunchShape shape{kernels::tiles_of(in, kernels::kTile, kernels::kTile), {kernels::kTile, kernels::kTileRows}};
  if (variant == Convolution2dVariant::separable) {
    return launch(kernels::convolution_2d_separable<Sample, Tap>, shape, queue.stream(), in,
                  kernels::Factors<Tap>(kernel), out);
  }
  constexpr std::size_t kMost = std::size_t{kMaxKernelSize} * kMaxKernelSize;
  Tap* const taps = kernels::stored(queue, kernels::Taps<Tap, kMost>(kernel.taps));
  const auto run = [&](auto by, const LaunchShape& with) {
    launch(by, with, queue.stream(), in, taps, kernel.size, kernel.divisor, out);
  };
  switch (variant) {
    case Convolution2dVariant::direct:
      return run(kernels::convolution_2d_direct<Sample, Tap>, {kernels::tiles_of(in, 32, 8), {32, 8}});
    case Convolution2dVariant::shared_tile: return run(kernels::convolution_2d_shared<Sample, Tap>, shape);
    default: return run(kernels::convolution_2d_restrict<Sample, Tap>, shape);
  }
}

}  // namespace

void convolve(FilterQueue& queue, ConstPlaneView in, const ByteKernel& kernel, PlaneView out,
              Convolution2dVariant variant) {
  convolve_picture<std::uint8_t, std::int32_t>(queue, in, kernel, out, variant);
}

void convolve(FilterQueue& queue, BasicPlaneView<const float> in, const FloatKernel& kernel, BasicPlaneView<float> out,
              Convolution2dVariant variant) {
  convolve_picture<float, float>(queue, in, kernel, out, variant);
}

}  // namespace c63::cuda
