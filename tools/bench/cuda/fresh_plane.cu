#include <cstdint>

#include "bench/cuda/kernels.h"
#include "cuda_me/runtime/launch.h"

namespace c63::bench {
namespace {

constexpr int kPlaneThreads = 256;

__global__ void __launch_bounds__(kPlaneThreads) fresh_plane(cuda::MotionJob from, const std::uint8_t* samples, std::uint8_t* to, int width, int height,
                                                        std::uint32_t seed, std::uint32_t grain) {
  const int i = static_cast<int>(blockIdx.x * kPlaneThreads + threadIdx.x);
  if (i >= width * height) return;
  const int x = seed >> 31 ? width - 1 - i % width : i % width;
  const int from_x = (x + static_cast<int>(seed & 0xFFF)) % from.width;
  const int from_y = (i / width + static_cast<int>(seed >> 12 & 0xFFF)) % from.height;
  std::uint32_t random = (static_cast<std::uint32_t>(i) ^ grain) * 0x85EBCA6BU;
  random = (random ^ random >> 13) * 0xC2B2AE35U;
  to[i] = samples[from_y * from.width + from_x] ^ (random >> 26 == 0 ? 1 : 0);
}

}  // namespace

void enqueue_fresh_planes(cudaStream_t stream, const cuda::MotionJob& from, const cuda::MotionJob& to, std::uint32_t seed) {
  const auto blocks = static_cast<unsigned>((to.width * to.height + kPlaneThreads - 1) / kPlaneThreads);
  for (const bool is_current : {false, true}) {
    cuda::launch(fresh_plane, {blocks, kPlaneThreads}, stream, from, is_current ? from.current : from.reference,
                 const_cast<std::uint8_t*>(is_current ? to.current : to.reference), to.width, to.height, seed,
                 seed * 2654435761U + (is_current ? 1U : 0U));
  }
}

}  // namespace c63::bench
