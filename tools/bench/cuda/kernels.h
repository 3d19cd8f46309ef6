#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cuda_me/kernels/motion.h"

namespace c63::bench {

/// Puts a kernel on the stream that does nothing but VABSDIFF4 on all multiprocessors. Returns how many it executes, counted
/// per thread. The kernel may write to `out`.
double enqueue_absdiff4(cudaStream_t stream, std::uint32_t* out, int multiprocessors);

/// A step of docs/course.md: a kernel of tools/race/examples/gpu, built into this program.
struct Step {
  std::string_view name;
  std::unique_ptr<cuda::MotionSearch> (*make)();
};

/// Returns the steps in the order of the course. Those that c63 itself uses are in cuda::motion_kernels().
[[nodiscard]] std::span<const Step> steps();

}  // namespace c63::bench
