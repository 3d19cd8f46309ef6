#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "cuda_me/kernels/motion.h"

namespace c63::cuda {

/// The additional results for one pair of planes. All pointers are to device memory.
struct RefineJob {
  MotionJob motion;                      ///< holds vectors and SADs of a finished search, unless `around` is set
  const MotionVector* around = nullptr;  ///< one centre per block: search around it; null: the search is finished
  std::uint16_t* seconds = nullptr;      ///< second SADs, one per block; may be null
  std::uint16_t* quarters = nullptr;     ///< SADs of the block's 4x4 quarters, four per block; may be null
};

/// See MotionSettings.
struct RefineSettings {
  int zero_bias = 0;
  int second_distance = 1;
};

/// Enqueues the parts of estimate_motion() (c63/motion_search.h) that a plain search does not compute: searching around
/// given vectors, preferring zero vectors, second SADs and SADs of quarters.
void refine_motion(std::span<const RefineJob> jobs, const RefineSettings& settings, cudaStream_t stream);

}  // namespace c63::cuda
