#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_me/kernels/frame_layout.h"
#include "decide/lookahead_decisions.h"
#include "decide/propagated_weights.h"
#include "decide/source_motion.h"
#include "decide/temporal_filter.h"

// The device's work on frames before they are coded. Functions of the same names in encoder/decide/ define the results.

namespace c63::cuda {

/// Sums over a frame's motion (MotionTotals).
struct MotionSums {
  unsigned long long logarithms = 0;
  unsigned long long squared_error = 0;
};

/// One call of find_source_motion().
struct SourceMotionJob {
  const std::uint8_t* current = nullptr;    ///< picture
  const std::uint8_t* reference = nullptr;  ///< picture
  const SourceBlock* hints = nullptr;       ///< motion from another search, one per luma block; null: none
  int hint_factor = 1;                      ///< the vectors of `hints`, times this, are tried
  SourceBlock* motion = nullptr;            ///< the result; has room for all luma blocks and one more
  MotionSums* sums = nullptr;               ///< receives the sums by addition; null: not wanted
  std::uint32_t least = 1;                  ///< least_coded_error()
};
/// Searches that do not depend on each other.
struct SourceMotionJobs {
  std::array<SourceMotionJob, 2> jobs{};
  int count = 0;

  void add(const SourceMotionJob& job) { jobs[static_cast<std::size_t>(count++)] = job; }
};
/// Launches all searches together on `stream`.
void enqueue_source_motion(const FrameLayout& layout, const SourceMotionJobs& jobs, cudaStream_t stream);

/// Enqueues error_flow() for `blocks` blocks.
void enqueue_error_flow(const SourceBlock* motion, int blocks, Cost lambda, PassedError* flow, cudaStream_t stream);

/// A neighbouring frame that is averaged with the frame to filter.
struct FilterNeighbour {
  const std::uint8_t* picture = nullptr;
  const SourceBlock* motion = nullptr;  ///< motion of the frame to filter, relative to this one
  int distance = 1;                     ///< in frames
};
/// A frame to filter.
struct FilterJob {
  const std::uint8_t* current = nullptr;  ///< picture
  std::array<FilterNeighbour, std::size_t{2} * kFilterReach> neighbours{};
  int count = 0;                      ///< number of neighbours
  std::uint8_t* averaged = nullptr;   ///< the result, without padding
};
void enqueue_temporal_filter(const FrameLayout& layout, const TemporalFilter& filter, const FilterJob& job, cudaStream_t stream);

/// A frame that follows the frame to weight.
struct LaterFlow {
  const PassedError* flow = nullptr;
  int back = 1;  ///< distance to its reference, in frames
};
/// One call of propagated_weights().
struct PropagationJob {
  std::array<LaterFlow, kPropagationFrames> later{};
  int count = 0;                         ///< number of later frames
  std::uint32_t* importances = nullptr;  ///< room for kPropagationArrays values per luma block
  Weight* weights = nullptr;             ///< one for each MCU
};
/// The number of arrays of importances that are in use at once: one for a frame, one for each of its possible
/// references, and one that is being cleared.
inline constexpr int kPropagationArrays = kMostFramesBack + 2;
void enqueue_propagated_weights(const FrameLayout& layout, const PropagationJob& job, cudaStream_t stream);

}  // namespace c63::cuda
