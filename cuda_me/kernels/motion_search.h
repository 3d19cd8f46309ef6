#pragma once

// The functions that make the searches.

#include <memory>

#include "codec/geometry.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/needs.h"

namespace c63::cuda {

#define C63_BUILT_IN_SEARCH(name, make) std::unique_ptr<MotionSearch> make();
#include "cuda_me/kernels/motion_kernels.inc"
#undef C63_BUILT_IN_SEARCH

}  // namespace c63::cuda
