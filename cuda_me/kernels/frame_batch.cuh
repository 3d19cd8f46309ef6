#pragma once

// Code that is shared by the kernels that code frames, write scans and check vectors.

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <span>

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/kernels/frame_kernels.h"

namespace c63::cuda {

/// The frames of one launch. They are a kernel parameter, and blockIdx.y selects the frame of a thread block.
struct FrameBatch {
  std::array<CodingJob, kMaxFramesPerLaunch> jobs;
};
static_assert(sizeof(FrameLayout) + sizeof(FrameBatch) + sizeof(int) <= (CUDART_VERSION >= 12010 ? 32764 : 4096));

/// Splits the jobs into batches of at most kMaxFramesPerLaunch and calls launch(batch, frames) for each.
template <typename Launch>
void for_each_batch(std::span<const CodingJob> jobs, Launch&& launch) {
  while (!jobs.empty()) {
    const auto count = std::min<std::size_t>(jobs.size(), kMaxFramesPerLaunch);
    FrameBatch batch;
    std::ranges::copy(jobs.first(count), batch.jobs.begin());
    launch(batch, static_cast<unsigned>(count));
    jobs = jobs.subspan(count);
  }
}

/// The time in nanoseconds, by a clock that all multiprocessors share.
__device__ __forceinline__ unsigned long long device_clock() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// Copies a frame's totals to its report and sets them to zero for the next frame. Called by one thread, after all
/// threads have added to the totals.
__device__ inline void hand_out_totals(const CodingJob& job) {
  for (int p = 0; p < kPlanes; ++p) job.report->totals.sse[p] = __ldcg(&job.state->totals.sse[p]);
  job.report->totals.luma_sad = __ldcg(&job.state->totals.luma_sad);
  job.report->totals.motion_bits = __ldcg(&job.state->totals.motion_bits);
  job.report->totals.luma_bits = __ldcg(&job.state->totals.luma_bits);
  job.report->totals.chroma_bits = __ldcg(&job.state->totals.chroma_bits);
  job.report->moments.coding_starts = __ldcg(&job.state->moments.coding_starts);
  job.report->moments.coding_ends = __ldcg(&job.state->moments.coding_ends);
  job.report->moments.writing_starts = __ldcg(&job.state->moments.writing_starts);
  job.report->writing_ends = device_clock();
  job.report->repeats = __ldcg(&job.state->repeats);
  job.report->wrong_vector = __ldcg(&job.state->wrong_vector);
  *job.state = {};
}

}  // namespace c63::cuda
