// Matrix product, three variants. In `direct`, one thread per output reads global memory. In `shared_tile`, tiles of
// both matrices are in shared memory, which divides the global loads by the tile's width. In `register_tile`, a thread
// computes 4x4 outputs, which divides the loads from shared memory by four.
#include "c63/filter_checks.h"
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

using In = BasicPlaneView<const float>;
using Out = BasicPlaneView<float>;

__global__ void product_direct(In a, In b, Out c) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= c.width || y >= c.height) return;
  float total = 0;
  for (int k = 0; k < a.width; ++k) total += a.data[y * a.pitch + k] * b.data[k * b.pitch + x];
  c.data[y * c.pitch + x] = total;
}

__device__ float value_at(In m, int x, int y) { return x < m.width && y < m.height ? m.data[y * m.pitch + x] : 0.0F; }

constexpr int kSharedTile = 32;

__global__ void product_shared(In a, In b, Out c) {
  __shared__ float tile_a[kSharedTile][kSharedTile];
  __shared__ float tile_b[kSharedTile][kSharedTile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * kSharedTile + tx;
  const int y = static_cast<int>(blockIdx.y) * kSharedTile + ty;
  float total = 0;
  for (int first = 0; first < a.width; first += kSharedTile) {
    tile_a[ty][tx] = value_at(a, first + tx, y);
    tile_b[ty][tx] = value_at(b, x, first + ty);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSharedTile; ++k) total += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();
  }
  if (x < c.width && y < c.height) c.data[y * c.pitch + x] = total;
}

constexpr int kSide = 64;   // outputs per side of a thread block
constexpr int kDepth = 16;  // columns of a, and rows of b, that are in shared memory at once
constexpr int kEach = 4;    // outputs per side of a thread
constexpr int kThreads = (kSide / kEach) * (kSide / kEach);

__global__ void __launch_bounds__(kThreads) product_registers(In a, In b, Out c) {
  __shared__ float tile_a[kDepth][kSide + 4];  // transposed, so that a thread's four rows are adjacent
  __shared__ float tile_b[kDepth][kSide];
  const int t = static_cast<int>(threadIdx.x);
  const int left = static_cast<int>(blockIdx.x) * kSide;
  const int top = static_cast<int>(blockIdx.y) * kSide;
  const int tx = t % (kSide / kEach) * kEach;
  const int ty = t / (kSide / kEach) * kEach;
  float total[kEach][kEach] = {};
  for (int first = 0; first < a.width; first += kDepth) {
    for (int i = t; i < kSide * kDepth; i += kThreads) {
      tile_a[i % kDepth][i / kDepth] = value_at(a, first + i % kDepth, top + i / kDepth);
      tile_b[i / kSide][i % kSide] = value_at(b, left + i % kSide, first + i / kSide);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      const float4 column = *reinterpret_cast<const float4*>(&tile_a[k][ty]);
      const float4 row = *reinterpret_cast<const float4*>(&tile_b[k][tx]);
      const float from_a[kEach] = {column.x, column.y, column.z, column.w};
      const float from_b[kEach] = {row.x, row.y, row.z, row.w};
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) total[j][i] += from_a[j] * from_b[i];
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < kEach; ++j) {
    for (int i = 0; i < kEach; ++i) {
      if (left + tx + i < c.width && top + ty + j < c.height) {
        c.data[(top + ty + j) * c.pitch + left + tx + i] = total[j][i];
      }
    }
  }
}

Sides tiles(Out c, int side) { return {divide_up(c.width, side), divide_up(c.height, side)}; }

}  // namespace
}  // namespace c63::cuda::kernels

namespace c63::cuda {

void multiply(FilterQueue& queue, BasicPlaneView<const float> a, BasicPlaneView<const float> b, BasicPlaneView<float> c,
              ProductVariant variant) {
  check_product(a, b, c);
  if (c.width == 0 || c.height == 0) return;
  const auto run = [&](auto kernel, int side, Sides block) {
    launch(kernel, {kernels::tiles(c, side), block}, queue.stream(), a, b, c);
  };
  switch (variant) {
    case ProductVariant::direct: return run(kernels::product_direct, 16, {16, 16});
    case ProductVariant::shared_tile:
      return run(kernels::product_shared, kernels::kSharedTile, {kernels::kSharedTile, kernels::kSharedTile});
    default: return run(kernels::product_registers, kernels::kSide, kernels::kThreads);
  }
}

}  // namespace c63::cuda
