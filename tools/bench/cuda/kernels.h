#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "cuda_me/kernels/motion.h"

namespace c63::bench {

/// Puts a kernel on the stream that does nothing but VABSDIFF4 on all multiprocessors. Returns how many it executes, counted
/// per thread. The kernel may write to `out`.
double enqueue_absdiff4(cudaStream_t stream, std::uint32_t* out, int multiprocessors);

/// Fills both planes of `to` with the samples of `from`, moved and maybe mirrored by the seed, so that nobody knows them before. One
/// sample of 64 changes by one. The planes of `from` have no gaps between rows.
void enqueue_fresh_planes(cudaStream_t stream, const cuda::MotionJob& from, const cuda::MotionJob& to, std::uint32_t seed);

/// Returns the steps of docs/course.md in its order: kernels of tools/race/examples/gpu, built into this program. Those
/// that c63 itself uses are in cuda::motion_kernels().
[[nodiscard]] std::span<const cuda::MotionKernelInfo> steps();

}  // namespace c63::bench
