#pragma once

// Code that the kernels of the beam share (decide/beam.h).

#include "cuda_me/kernels/rate_common.cuh"
#include "decide/beam.h"

namespace c63::cuda {

/// The blocks of a plane in one MCU row, in coding order.
struct BeamRow {
  int plane = 0;
  int first = 0;    ///< index of its first block in per-block arrays
  int columns = 0;  ///< blocks per row of the plane
  int count = 0;

  __device__ BeamRow(const FrameLayout& layout, int plane_index, int mcu_row)
      : plane(plane_index), columns(layout.columns[plane]) {
    const int rows = plane == 0 ? 2 : 1;
    first = layout.first_block[plane] + mcu_row * rows * columns;
    count = rows * columns;
  }
  /// Returns the place in per-block arrays of block number i in coding order.
  [[nodiscard]] __device__ __forceinline__ int block(int i) const {
    return plane != 0 ? first + i : first + (i / 2 % 2) * columns + i / 4 * 2 + i % 2;
  }
  /// Returns the row of block number i within the MCU row: 0 or 1 for Y, 0 for U and V.
  [[nodiscard]] __device__ __forceinline__ int block_row(int i) const { return plane != 0 ? 0 : i / 2 % 2; }
};

/// Stores the candidate and the DC level of lane `lane` as the choice for a block. In inter frames, also stores the
/// vector with which the block is predicted.
__device__ __forceinline__ void store_winner(const RateFrame& frame, int block, int lane) {
  const RateScratch& scratch = frame.scratch;
  const std::size_t candidate = static_cast<std::size_t>(block) * frame.slots + static_cast<std::size_t>(lane / kDcLevels);
  const auto dc = static_cast<std::size_t>(lane % kDcLevels);
  const VectorNumber vector = vector_of_candidate(scratch.candidates[candidate]);
  scratch.winners[block] = {static_cast<std::uint8_t>(lane / kDcLevels),
                            static_cast<std::uint8_t>(scratch.without_ac[candidate] >> dc & 1),
                            scratch.dc_levels[candidate * kDcLevels + dc]};
  if (frame.job.reference == nullptr) return;
  frame.decided[block] = vector == kNoVector ? 1 : 0;
  frame.job.vectors[block] = vector == kNoVector ? inherited_source(frame.job, block) : vector_of(vector);
}

/// Enqueues the beam for a group with one state and at most two candidates per block.
void enqueue_greedy_row(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream);

}  // namespace c63::cuda
