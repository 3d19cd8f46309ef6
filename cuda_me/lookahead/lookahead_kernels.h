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

// The work on frames before they are coded. The definitions are those of encoder/decide/ with the same names.

namespace c63::cuda {

/// The sums of a frame's motion (MotionTotals).
struct MotionSums {
  unsigned long long logarithms = 0;
  unsigned long long squared_error = 0;
};

/// find_source_motion() of a frame.
struct SourceMotionJob {
  const std::uint8_t* current = nullptr;    ///< picture
  const std::uint8_t* reference = nullptr;  ///< picture
  const SourceBlock* hints = nullptr;       ///< of all luma blocks; null: none
  int hint_factor = 1;                      ///< these vectors, scaled, are hints
  SourceBlock* motion = nullptr;            ///< capacity for all luma blocks and one more
  MotionSums* sums = nullptr;               ///< the sums are added here; null: not wanted
  std::uint32_t least = 1;                  ///< least_coded_error()
};
/// Independent searches.
struct SourceMotionJobs {
  std::array<SourceMotionJob, 2> jobs{};
  int count = 0;

  void add(const SourceMotionJob& job) { jobs[static_cast<std::size_t>(count++)] = job; }
};
/// Launches them together on `stream`.
void enqueue_source_motion(const FrameLayout& layout, const SourceMotionJobs& jobs, cudaStream_t stream);

/// Computes error_flow() of `blocks` blocks.
void enqueue_error_flow(const SourceBlock* motion, int blocks, Cost lambda, PassedError* flow, cudaStream_t stream);

/// A frame that takes part in the average of another.
struct FilterNeighbour {
  const std::uint8_t* picture = nullptr;
  const SourceBlock* motion = nullptr;  ///< motion of the averaged frame against it
  int distance = 1;                     ///< in frames
};
/// The averaged frame.
struct FilterJob {
  const std::uint8_t* current = nullptr;  ///< picture
  std::array<FilterNeighbour, std::size_t{2} * kFilterReach> neighbours{};
  int count = 0;                      ///< of neighbours
  std::uint8_t* averaged = nullptr;   ///< linear
};
void enqueue_temporal_filter(const FrameLayout& layout, const TemporalFilter& filter, const FilterJob& job, cudaStream_t stream);

/// A frame after the one that is weighed.
struct LaterFlow {
  const PassedError* flow = nullptr;
  int back = 1;  ///< distance to its reference, in frames
};
/// Computes propagated_weights().
struct PropagationJob {
  std::array<LaterFlow, kPropagationFrames> later{};
  int count = 0;                         ///< of later frames
  std::uint32_t* importances = nullptr;  ///< capacity for kPropagationArrays times the luma blocks
  Weight* weights = nullptr;             ///< one for each MCU
};
/// A frame, its possible references, and one that is prepared.
inline constexpr int kPropagationArrays = kMostFramesBack + 2;
void enqueue_propagated_weights(const FrameLayout& layout, const PropagationJob& job, cudaStream_t stream);

}  // namespace c63::cuda
