#pragma once

// What the kernels of a frame share.

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <cub/block/block_reduce.cuh>

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

/// Nanoseconds of a clock that all multiprocessors share.
__device__ __forceinline__ unsigned long long device_clock() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// Puts a frame's totals into its report, and back to zero for the next one; by one thread, when all have added theirs.
__device__ inline void hand_out_totals(const FrameJob& job) {
  for (int p = 0; p < kPlanes; ++p) job.report->totals.sse[p] = __ldcg(&job.state->totals.sse[p]);
  job.report->totals.luma_sad = __ldcg(&job.state->totals.luma_sad);
  job.report->totals.motion_bits = __ldcg(&job.state->totals.motion_bits);
  job.report->totals.luma_bits = __ldcg(&job.state->totals.luma_bits);
  job.report->totals.chroma_bits = __ldcg(&job.state->totals.chroma_bits);
  job.report->moments.coding_starts = __ldcg(&job.state->moments.coding_starts);
  job.report->moments.coding_ends = __ldcg(&job.state->moments.coding_ends);
  job.report->moments.writing_starts = __ldcg(&job.state->moments.writing_starts);
  job.report->writing_ends = device_clock();
  *job.state = {};
}

/// Sum of the first `count` numbers, in every thread of the block; all take part. That every block adds up for itself
/// what lies before it costs less than a kernel between: a 1080p frame has a thousand segments.
template <int Threads>
__device__ unsigned long long sum_in_block(const std::uint32_t* values, int count) {
  using Reduce = cub::BlockReduce<unsigned long long, Threads>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ unsigned long long sum;
  unsigned long long own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += Threads) own += values[i];
  own = Reduce(storage).Sum(own);
  if (threadIdx.x == 0) sum = own;
  __syncthreads();
  return sum;
}

}  // namespace c63::cuda
