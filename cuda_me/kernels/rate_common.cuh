#pragma once

// Code that is shared by the kernels for frames that are decided by rate.

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/bit_cost.h"
#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/kernels/block_transform.cuh"
#include "cuda_me/kernels/frame_batch.cuh"
#include "cuda_me/kernels/rate_frame.h"

namespace c63::cuda {

/// The place of a block. rate_block() finds it from the block's number in per-block arrays.
struct RateBlock {
  int plane = 0;
  int index = 0;  ///< in the plane
  int column = 0;
  int row = 0;
};

__device__ __forceinline__ RateBlock rate_block(const FrameLayout& layout, int block) {
  RateBlock place;
  place.plane = (block >= layout.first_block[1]) + (block >= layout.first_block[2]);
  place.index = block - layout.first_block[place.plane];
  place.row = static_cast<int>(static_cast<unsigned>(place.index) / static_cast<unsigned>(layout.columns[place.plane]));
  place.column = place.index - place.row * layout.columns[place.plane];
  return place;
}

/// The index in raster order of the MCU that contains a block.
[[nodiscard]] __device__ __forceinline__ int mcu_of(const FrameLayout& layout, const RateBlock& block) {
  const int shift = block.plane == 0 ? 1 : 0;
  return (block.row >> shift) * layout.mcu_columns + (block.column >> shift);
}

/// Returns the weight that squared errors in a plane of an MCU have.
[[nodiscard]] __device__ __forceinline__ Weight weight_of(const RateFrame& frame, int plane, int mcu) {
  const Weight weight = frame.weights != nullptr ? frame.weights[mcu] : kPlainWeight;
  return plane == 0 ? weight : combined_weight(weight, frame.rate.chroma_weight);
}
[[nodiscard]] __device__ __forceinline__ Weight weight_of(const FrameLayout& layout, const RateFrame& frame, const RateBlock& block) {
  return frame.is_weighted ? weight_of(frame, block.plane, mcu_of(layout, block)) : kPlainWeight;
}

/// kWeightRatios for the device.
__device__ constexpr auto kDeviceWeightRatios = kWeightRatios;
[[nodiscard]] __device__ __forceinline__ long long reweigh_on_device(long long cost, Weight from, Weight to) {
  return reweigh_by(cost, kDeviceWeightRatios[static_cast<std::size_t>(weight_ratio_index(from, to))]);
}

[[nodiscard]] __device__ __forceinline__ PlaneGeometry plane_of(const FrameLayout& layout, int plane) {
  const int rows = layout.mcus / layout.mcu_columns * (plane == 0 ? 2 : 1);
  return {layout.width[plane], rows * kBlockSize, layout.columns[plane], rows, layout.coded[plane]};
}

/// The offset of a block's first sample in a picture.
[[nodiscard]] __device__ __forceinline__ std::size_t first_sample(const FrameLayout& layout, const RateBlock& block) {
  return layout.offset[block.plane] + static_cast<std::size_t>(block.row) * kBlockSize * layout.width[block.plane] +
         static_cast<std::size_t>(block.column) * kBlockSize;
}

/// The cost of a vector component in units of SAD, as in VectorCosts.
[[nodiscard]] __device__ __forceinline__ std::uint32_t component_cost(int sad_per_bit, int value) {
  return static_cast<std::uint32_t>((sad_per_bit * vector_component_bits(value) + 128) >> 8);
}

/// Returns the vector with which a block without a coded vector is predicted. It is no_vector() if the block's
/// prediction is zero.
[[nodiscard]] __device__ __forceinline__ MotionVector inherited_source(const CodingJob& job, int block) {
  return job.inherited != nullptr ? job.inherited[block] : no_vector();
}

/// The code lengths of AC coefficients, for luma and for chroma.
struct alignas(4) AcBitTables {
  AcBits planes[2];
};
__device__ constexpr AcBitTables kAcBitTables = {{kAcLumaBits, kAcChromaBits}};

/// Copies the code lengths to shared memory. All threads of a thread block call it.
__device__ __forceinline__ void load_ac_bits(AcBitTables& tables) {
  static_assert(sizeof(AcBitTables) % 4 == 0);
  const auto* from = reinterpret_cast<const std::uint32_t*>(&kAcBitTables);
  for (unsigned i = threadIdx.x; i < sizeof(tables) / 4; i += blockDim.x) {
    reinterpret_cast<std::uint32_t*>(&tables)[i] = from[i];
  }
}

}  // namespace c63::cuda
