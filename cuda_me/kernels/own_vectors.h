#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/rate_frame.h"

// What follows a search of one's own (c63/own_search.h) on the device: its vectors are checked before anything uses them.

namespace c63::cuda {

/// The byte that vectors are filled with before the search. It makes kNotWritten (decide/own_vector.h).
inline constexpr int kNotWrittenByte = 0x80;

/// A wrong vector in FrameState and FrameReport: of several, the one of the first block has the largest number. 0: none is wrong.
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

/// Puts on `stream`: the vectors of all inter frames are checked, and their SADs computed. A wrong vector becomes zero, and the
/// frame's state has it. `range` is that of luma.
void enqueue_check_vectors(const FrameLayout& layout, std::span<const CodingJob> jobs, int range, cudaStream_t stream);

/// The same for frames that are decided by rate. The vectors become those that the search by cost would have found
/// (RateScratch::found and found_costs).
void enqueue_check_vectors(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);

}  // namespace c63::cuda
