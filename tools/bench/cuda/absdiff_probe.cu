#include <cstdint>

#include "bench/cuda/kernels.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::bench {
namespace {

constexpr int kChains = 16;  ///< independent sums per thread, enough to hide the latency
constexpr int kSteps = 16;   ///< instructions for each of these sums in each turn of the loop
constexpr int kTurns = 512;
constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) absdiff_probe(std::uint32_t* out, std::uint32_t seed) {
  std::uint32_t sums[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) sums[c] = seed + static_cast<std::uint32_t>(c);
  const std::uint32_t a = seed * (threadIdx.x + 1);
  const std::uint32_t b = seed + blockIdx.x;
  for (int turn = 0; turn < kTurns; ++turn) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) sums[c] = cuda::absdiff4_add(a, b, sums[c]);
    }
  }
  std::uint32_t all = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) all ^= sums[c];
  if (all == 0x12345678U) out[0] = all;  // never true in practice; keeps the compiler from removing the sums
}

}  // namespace

double enqueue_absdiff4(cudaStream_t stream, std::uint32_t* out, int multiprocessors) {
  const unsigned blocks = static_cast<unsigned>(multiprocessors) * 8;
  cuda::launch(absdiff_probe, {blocks, kThreads}, stream, out, std::uint32_t{3});
  return static_cast<double>(blocks) * kThreads * kChains * kSteps * kTurns;
}

}  // namespace c63::bench
