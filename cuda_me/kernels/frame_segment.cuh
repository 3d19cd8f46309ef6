#pragma once

// Prefix codes on the device, how eight threads write the codes of one block, and the thread block of a segment: eight
// threads per 8x8 block, and their shared memory.

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/vlc.h"
#include "cuda_me/kernels/block_transform.cuh"
#include "cuda_me/kernels/frame_batch.cuh"

namespace c63::cuda {

/// The tables of prefix codes. A code is one word: bits 0 to 15 are the code's bits, and the bits above are its length.
struct CodeTables {
  std::uint32_t ac[2][256];  ///< luma, chroma; by symbol
  std::uint32_t dc[2][16];   ///< luma (and vectors), chroma; by size
};

constexpr std::uint32_t packed_code(VlcCode code) { return static_cast<std::uint32_t>(code.length) << 16 | code.bits; }

constexpr CodeTables make_code_tables() {
  CodeTables tables{};
  for (int symbol = 0; symbol < 256; ++symbol) {
    tables.ac[0][symbol] = packed_code(kAcLumaCodes[symbol]);
    tables.ac[1][symbol] = packed_code(kAcChromaCodes[symbol]);
  }
  for (int size = 0; size < 12; ++size) {
    tables.dc[0][size] = packed_code(kDcLumaCodes[size]);
    tables.dc[1][size] = packed_code(kDcChromaCodes[size]);
  }
  return tables;
}

__device__ constexpr CodeTables kCodeTables = make_code_tables();

/// Copies the tables to shared memory. All `threads` threads of the thread block call it.
__device__ __forceinline__ void load_code_tables(CodeTables& tables, int threads) {
  constexpr int kWords = sizeof(CodeTables) / sizeof(std::uint32_t);
  for (int i = static_cast<int>(threadIdx.x); i < kWords; i += threads) {
    reinterpret_cast<std::uint32_t*>(&tables)[i] = reinterpret_cast<const std::uint32_t*>(&kCodeTables)[i];
  }
}

/// Up to 32 bits to append to a stream, the most significant bit first.
struct BitRun {
  std::uint32_t bits = 0;
  int length = 0;

  __device__ __forceinline__ void put_before(std::uint32_t more, int count) {
    bits |= more << length;
    length += count;
  }
};

/// Returns a code of CodeTables, followed by the `size` bits of a value.
__device__ __forceinline__ BitRun code_with_value(std::uint32_t code, int value, int size) {
  return {(code & 0xFFFFU) << size | value_bits(value, size), static_cast<int>(code >> 16) + size};
}

/// Writes a run into words that were zero, from bit `position` on. Uses atomic ORs, because other threads may write
/// other bits of the same words at the same time.
__device__ __forceinline__ void put_run(std::uint32_t* words, int position, BitRun run) {
  if (run.length == 0) return;
  const std::uint32_t top = run.bits << (32 - run.length);
  std::uint32_t* const word = words + (position >> 5);
  const unsigned shift = static_cast<unsigned>(position) & 31U;
  atomicOr(word, top >> shift);
  const std::uint32_t rest = __funnelshift_r(0, top, shift);
  if (rest != 0) atomicOr(word + 1, rest);
}

inline constexpr int kSegmentThreads = kBlocksPerSegment * 8;
/// The distance between the levels of neighbouring blocks in shared memory, in levels. A warp reads eight levels of
/// each of four blocks. The padding of 8 levels keeps these reads in different banks.
inline constexpr int kLevelsApart = 64 + 8;
/// A multiprocessor must be able to hold this many thread blocks. So the compiler limits the registers per thread.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int kResidentSegments = 2;  // sm_75 holds 1024 threads
#else
inline constexpr int kResidentSegments = 4;
#endif
static_assert(kMaxBlockWords + 1 <= kBlockWords);

/// The shared memory of a segment's threads.
struct SegmentMemory {
  CodeTables tables;
  /// First each block's intermediate values of the transform, later its code bits.
  union {
    float numbers[kBlocksPerSegment * kBlockWords];
    std::uint32_t bits[kBlocksPerSegment * kBlockWords];
  };
  /// First each block's levels in zig-zag order, later the bits of the whole segment.
  union {
    alignas(16) std::int16_t levels[kBlocksPerSegment * kLevelsApart];
    std::uint32_t segment_words[kMaxSegmentWords];
  };
  int dc[kCarriedBlocks + kBlocksPerSegment];  ///< the carried DC levels, then those of the segment's blocks
  alignas(8) int length[kBlocksPerSegment];
  unsigned int sse[kPlanes];
  unsigned int luma_sad;
  unsigned int motion_bits;
  unsigned int coefficient_bits[2];
};

/// The part of a segment that a thread works on.
struct Work {
  BlockPlace place;
  int segment = 0;
  int block = 0;  ///< in the segment
  int sub = 0;    ///< index of the block in its MCU
  int t = 0;      ///< row or column of the block
  /// False for threads past the last MCU. They repeat the last MCU's work but write nothing, because whole warps must
  /// take part.
  bool active = false;
};

__device__ __forceinline__ Work work_of_thread(const FrameLayout& layout) {
  Work work;
  work.segment = static_cast<int>(blockIdx.x);
  work.block = static_cast<int>(threadIdx.x) / 8;
  work.sub = work.block % kBlocksPerMcu;
  work.t = static_cast<int>(threadIdx.x) % 8;
  const int mcu = work.segment * kMcusPerSegment + work.block / kBlocksPerMcu;
  work.active = mcu < layout.mcus;
  work.place = place_of(layout, work.active ? mcu : layout.mcus - 1, work.sub);
  return work;
}

/// Resets a segment's sums. All threads of the segment call it. They must synchronize before they add.
__device__ __forceinline__ void clear_totals(SegmentMemory& memory) {
  if (threadIdx.x < kPlanes) memory.sse[threadIdx.x] = 0;
  if (threadIdx.x < 2) memory.coefficient_bits[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    memory.luma_sad = 0;
    memory.motion_bits = 0;
  }
}

// The next two functions add a segment's sums to the frame's sums. One thread calls them, after all threads have added
// to the segment's sums.

__device__ __forceinline__ void add_errors(const SegmentMemory& memory, FrameState& state) {
  FrameTotals& totals = state.totals;
  for (int p = 0; p < kPlanes; ++p) atomicAdd(&totals.sse[p], static_cast<unsigned long long>(memory.sse[p]));
  atomicAdd(&totals.luma_sad, static_cast<unsigned long long>(memory.luma_sad));
}

__device__ __forceinline__ void add_bits(const SegmentMemory& memory, FrameState& state) {
  FrameTotals& totals = state.totals;
  atomicAdd(&totals.motion_bits, static_cast<unsigned long long>(memory.motion_bits));
  atomicAdd(&totals.luma_bits, static_cast<unsigned long long>(memory.coefficient_bits[0]));
  atomicAdd(&totals.chroma_bits, static_cast<unsigned long long>(memory.coefficient_bits[1]));
}

/// Writes a row of a reconstructed block. Also writes the row of its prediction if the job has a picture for it. A
/// repeat frame sets `keeps_prediction`, so that it does not overwrite the prediction of the previous frame. Returns
/// the block's squared error over its coded samples. The whole warp takes part.
__device__ __forceinline__ unsigned int store_block(const FrameLayout& layout, const CodingJob& job, const Work& work,
                                                    const BlockRows& rows, uint2 reconstruction,
                                                    bool keeps_prediction = false) {
  const BlockPlace& place = work.place;
  const std::size_t in_plane = place.start + static_cast<std::size_t>(work.t) * layout.width[place.plane];
  const std::size_t in_picture = layout.offset[place.plane] + in_plane;
  if (work.active) {
    *reinterpret_cast<uint2*>(job.reconstruction + in_picture) = reconstruction;
    if (job.prediction != nullptr && !keeps_prediction) *reinterpret_cast<uint2*>(job.prediction + in_picture) = rows.prediction;
  }
  const auto coded = static_cast<std::ptrdiff_t>(layout.coded[place.plane]) - static_cast<std::ptrdiff_t>(in_plane);
  return sum_of_lanes<8>(squared_error(rows.current, reconstruction, coded));
}

}  // namespace c63::cuda
