#pragma once

// The functions that make the searches.

#include <memory>

#include "codec/geometry.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/needs.h"

namespace c63::cuda {

#define C63_MOTION_KERNEL(kernel, name, text, make) std::unique_ptr<MotionSearch> make();
#include "cuda_me/kernels/motion_kernels.inc"
#undef C63_MOTION_KERNEL

/// Returns the registers, shared memory and occupancy of a kernel on the current device.
[[nodiscard]] MotionKernelResources kernel_resources(const void* kernel, int threads, std::size_t dynamic_shared_bytes);

}  // namespace c63::cuda
