#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "cuda_me/kernels/motion.h"

namespace c63::cuda {

/// What is asked of one pair of planes beyond its vectors and SADs. All pointers are to device memory.
struct RefineJob {
  MotionJob motion;                      ///< its vectors and SADs are results of a search, unless `around` is set
  const MotionVector* around = nullptr;  ///< one per block: the search is made here, around these; null: it has been made
  std::uint16_t* seconds = nullptr;      ///< one per block; may be null
  std::uint16_t* quarters = nullptr;     ///< four per block; may be null
};

/// As in MotionSettings.
struct RefineSettings {
  int zero_bias = 0;
  int second_distance = 1;
};

/// Puts on `stream` what estimate_motion() of c63/motion_search.h defines beyond a plain search: it searches around vectors,
/// prefers zero vectors, and finds second SADs and SADs of quarters.
void refine_motion(std::span<const RefineJob> jobs, const RefineSettings& settings, cudaStream_t stream);

}  // namespace c63::cuda
