#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/rate_frame.h"

// Checks the vectors that a search of the user's own (c63/own_search.h) has found. The check runs on the device before
// anything uses the vectors.

namespace c63::cuda {

/// All bytes of the vectors are set to this value before the search. So a vector that the search does not write is
/// kNotWritten (decide/vectors.h).
inline constexpr int kNotWrittenByte = 0x80;

/// Packs a block and its wrong vector into a number for FrameState and FrameReport. It is never 0, because 0 means that
/// no vector is wrong. An earlier block gives a larger number, so the largest number of a frame belongs to its first
/// wrong vector.
[[nodiscard]] C63_HD constexpr unsigned long long pack_wrong_vector(int block, MotionVector vector) {
  return static_cast<unsigned long long>(0xFFFFFFFFU - static_cast<unsigned>(block)) << 16 |
         static_cast<unsigned>(static_cast<std::uint8_t>(vector.x)) << 8 | static_cast<std::uint8_t>(vector.y);
}
[[nodiscard]] constexpr int block_of_wrong_vector(unsigned long long wrong) {
  return static_cast<int>(0xFFFFFFFFU - static_cast<unsigned>(wrong >> 16));
}
[[nodiscard]] constexpr MotionVector vector_of_wrong_vector(unsigned long long wrong) {
  return {static_cast<std::int8_t>(wrong >> 8), static_cast<std::int8_t>(wrong)};
}

/// Enqueues on `stream` a check of the vectors of all inter frames. Also computes the SADs of these vectors. A wrong
/// vector is replaced by zero, and FrameState::wrong_vector reports it. `range` is the search range of luma, in
/// samples.
void enqueue_check_vectors(const FrameLayout& layout, std::span<const CodingJob> jobs, int range, cudaStream_t stream);

/// Checks the vectors of frames that are decided by rate in the same way. Writes them and their costs to
/// RateScratch::found and found_costs, as the search by cost does.
void enqueue_check_vectors(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);

}  // namespace c63::cuda
