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
static_assert(sizeof(FrameLayout) + sizeof(FrameBatch) + sizeof(int) <= 32764);

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

}  // namespace c63::cuda
