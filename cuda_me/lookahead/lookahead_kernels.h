#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_me/kernels/frame_layout.h"
#include "decide/presets.h"
#include "decide/propagated_weights.h"
#include "decide/source_motion.h"
#include "decide/temporal_filter.h"

// The functions that enqueue the device's work on frames before they are coded (look-ahead). Functions in
// encoder/decide/ define the results: find_source_motion(), error_flow(), propagated_weights(), and those of
// temporal_filter.h.

namespace c63::cuda {

/// Sums over all blocks of a frame, as in MotionTotals.
struct MotionSums {
  unsigned long long logarithms = 0;
  unsigned long long squared_error = 0;
};

/// One call of find_source_motion().
struct SourceMotionJob {
  const std::uint8_t* current = nullptr;    ///< the picture whose blocks are searched for
  const std::uint8_t* reference = nullptr;  ///< the picture in which they are searched for
  const SourceBlock* hints = nullptr;       ///< motion from another search, one per luma block; null: none
  int hint_factor = 1;                      ///< the vectors of `hints`, times this, are tried
  SourceBlock* motion = nullptr;            ///< the result; has room for all luma blocks and one more
  MotionSums* sums = nullptr;               ///< the frame's sums are added to it; null: not wanted
  std::uint32_t least = 1;                  ///< least_coded_error(); only for `sums`
};
/// Searches that do not depend on each other.
struct SourceMotionJobs {
  std::array<SourceMotionJob, 2> jobs{};
  int count = 0;

  void add(const SourceMotionJob& job) { jobs[static_cast<std::size_t>(count++)] = job; }
};
/// Launches all searches together on `stream`.
void enqueue_source_motion(const FrameLayout& layout, const SourceMotionJobs& jobs, cudaStream_t stream);

/// Enqueues error_flow() for `blocks` luma blocks: writes to `flow` how much of its reference's error each block
/// inherits.
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
  const PassedError* flow = nullptr;  ///< the errors that its luma blocks inherit from their reference
  int back = 1;                       ///< distance to its reference, in frames
};
/// One call of propagated_weights().
struct PropagationJob {
  std::array<LaterFlow, kPropagationFrames> later{};
  int count = 0;              ///< number of later frames
  /// Working memory: kPropagationArrays values per luma block. The importance of a block says how much its error
  /// counts, because later blocks inherit it.
  std::uint32_t* importances = nullptr;
  Weight* weights = nullptr;  ///< the result; one for each MCU
};
/// The number of arrays of importances that are in use at once: one for a frame, one for each of its possible
/// references, and one that is being cleared.
inline constexpr int kPropagationArrays = kMostFramesBack + 2;
void enqueue_propagated_weights(const FrameLayout& layout, const PropagationJob& job, cudaStream_t stream);

}  // namespace c63::cuda
