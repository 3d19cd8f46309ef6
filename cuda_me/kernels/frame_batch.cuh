#pragma once

// What the kernels of a frame share.

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "cuda_me/kernels/frame_kernels.h"

namespace c63::cuda {

/// The frames of one launch, handed over as a kernel parameter; blockIdx.y picks one.
struct FrameBatch {
  std::array<FrameJob, kMaxFramesPerLaunch> jobs;
};

constexpr unsigned kFullWarp = 0xFFFFFFFFU;

/// Largest value of the warp, in all of its lanes.
__device__ __forceinline__ unsigned max_of_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kFullWarp, value);
#else
  for (int step = 16; step > 0; step /= 2) value = max(value, __shfl_xor_sync(kFullWarp, value, step));
  return value;
#endif
}

/// Sum of the warp's values, in all of its lanes.
__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kFullWarp, value);
#else
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kFullWarp, value, step);
  return value;
#endif
}

/// True in the thread block that is the last of `blocks` to come here, which then sees all that the others wrote before.
/// All threads of the block take part; the counter is zero again afterwards.
__device__ inline bool is_last_block(unsigned int* counter, unsigned int blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1U) + 1U == blocks;
    if (last) *counter = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// Puts a frame's totals into its report, and back to zero for the next one; by one thread, when all have added theirs.
__device__ inline void hand_out_totals(const FrameJob& job) {
  for (int p = 0; p < kPlanes; ++p) job.report->totals.sse[p] = __ldcg(&job.state->totals.sse[p]);
  job.report->totals.luma_sad = __ldcg(&job.state->totals.luma_sad);
  job.report->totals.motion_bits = __ldcg(&job.state->totals.motion_bits);
  job.report->totals.luma_bits = __ldcg(&job.state->totals.luma_bits);
  job.report->totals.chroma_bits = __ldcg(&job.state->totals.chroma_bits);
  job.state->totals = {};
}

/// Exclusive prefix sums of `count` numbers by one thread block; returns the sum of all in every thread.
template <int Threads, typename Emit>
__device__ unsigned long long scan_in_block(const std::uint32_t* values, int count, Emit&& emit) {
  constexpr int kItems = 4;
  using Scan = cub::BlockScan<unsigned long long, Threads>;
  __shared__ typename Scan::TempStorage storage;
  unsigned long long before = 0;
  for (int first = 0; first < count; first += Threads * kItems) {
    unsigned long long items[kItems];
    const int mine = first + static_cast<int>(threadIdx.x) * kItems;
    for (int i = 0; i < kItems; ++i) items[i] = mine + i < count ? __ldcg(values + mine + i) : 0;
    unsigned long long sum = 0;
    Scan(storage).ExclusiveSum(items, items, sum);
    for (int i = 0; i < kItems; ++i) {
      if (mine + i < count) emit(mine + i, before + items[i]);
    }
    before += sum;
    __syncthreads();
  }
  return before;
}

}  // namespace c63::cuda
