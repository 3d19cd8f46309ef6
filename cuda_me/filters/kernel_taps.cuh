#pragma once

#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {

/// The taps of a 2-D filter kernel. Passed to GPU kernels as a parameter.
template <typename Tap>
struct KernelTaps {
  int size = 0;
  Tap divisor = Tap{1};
  Tap value[kMaxKernelSize * kMaxKernelSize];
};

template <typename Tap>
[[nodiscard]] KernelTaps<Tap> argument_of(const Kernel2d<Tap>& kernel) {
  KernelTaps<Tap> taps;
  taps.size = kernel.size;
  taps.divisor = kernel.divisor;
  std::copy(kernel.taps.begin(), kernel.taps.end(), taps.value);
  return taps;
}

template <typename Tap>
__global__ void store_kernel(const __grid_constant__ KernelTaps<Tap> taps, Tap* out) {
  for (int k = static_cast<int>(threadIdx.x); k < taps.size * taps.size; k += static_cast<int>(blockDim.x)) {
    out[k] = taps.value[k];
  }
}

/// Stores the taps in device memory, for the variants that read them there. The taps are passed as a kernel parameter,
/// so this also works in a graph.
template <typename Tap>
[[nodiscard]] const Tap* store(FilterQueue& queue, const Kernel2d<Tap>& kernel) {
  auto* stored = static_cast<Tap*>(queue.scratch(sizeof(KernelTaps<Tap>)));
  launch("store_kernel", store_kernel<Tap>, {dim3(1), dim3(256)}, queue.stream(), argument_of(kernel), stored);
  return stored;
}

__device__ inline std::uint8_t finish(std::int32_t total, std::int32_t divisor) {
  const std::int32_t rounded = total + divisor / 2;
  return rounded <= 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(min(rounded / divisor, 255));
}
__device__ inline float finish(float total, float divisor) { return total / divisor; }

template <typename Sample>
[[nodiscard]] __device__ Sample sample_at(BasicPlaneView<const Sample> in, int x, int y) {
  return x >= 0 && x < in.width && y >= 0 && y < in.height ? in.data[y * in.pitch + x] : Sample{0};
}

// A thread block computes kTile x kTile outputs. It loads each sample that these outputs need only once. A thread
// computes every kTileRows-th output of a column.
inline constexpr int kTile = 32;
inline constexpr int kTileRows = 8;
inline constexpr int kTileSamples = kTile + kMaxKernelSize - 1;  ///< per side of a tile, for the largest kernel

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

[[nodiscard]] inline dim3 tiles_of(int width, int height, int tile_width, int tile_height) {
  return dim3(static_cast<unsigned>((width + tile_width - 1) / tile_width),
              static_cast<unsigned>((height + tile_height - 1) / tile_height));
}

}  // namespace c63::cuda::kernels
