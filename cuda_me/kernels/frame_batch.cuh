#pragma once

// What the kernels of a frame share.

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/kernels/frame_kernels.h"

namespace c63::cuda {

/// The frames of one launch, handed over as a kernel parameter; blockIdx.y picks one.
struct FrameBatch {
  std::array<FrameJob, kMaxFramesPerLaunch> jobs;
};

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

}  // namespace c63::cuda
