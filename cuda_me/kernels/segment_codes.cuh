#pragma once

// Writes the codes of a segment from its blocks' levels. Eight threads write each block's bits; then the blocks' bits
// are joined.

#include <cuda_runtime.h>

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/kernels/frame_segment.cuh"

namespace c63::cuda {

/// The syntax elements of a block before its AC coefficients.
struct BlockHead {
  MotionVector vector;
  bool has_vector = false;
  bool reuse = false;  ///< the vector is that of the block to the left
  int dc_difference = 0;
};

/// The number of bits in a block's codes. `motion` counts only its flags and vector, `all` counts everything.
struct BlockLength {
  int motion = 0;
  int all = 0;
};

/// Writes a block's flags (use_mv, reuse), vector and DC. Of the block's eight threads, threads 0 and 1 write the
/// vector, and thread 2 writes DC. Thread 0 also writes the flags.
__device__ __forceinline__ BlockLength write_head(const BlockHead& head, int kind, int t, const CodeTables& tables,
                                                  std::uint32_t* words) {
  const int value = t == 0 ? head.vector.x : t == 1 ? head.vector.y : head.dc_difference;
  BitRun run;
  if (t == 2 || (t < 2 && head.has_vector && !head.reuse)) {
    const int size = value_size(value);
    run = code_with_value(tables.dc[t == 2 ? kind : 0][size], value, size);
  }
  if (t == 0) {
    if (!head.has_vector) {
      run.put_before(0, 1);
    } else {
      run.put_before(head.reuse ? 0b11 : 0b10, 2);
    }
  }
  const int end = scan_lanes<8>(run.length, t);
  put_run(words, end - run.length, run);
  return {__shfl_sync(kFullWarp, end, 1, 8), __shfl_sync(kFullWarp, end, 2, 8)};
}

/// Returns the position of set bit number `n`, counted from the lowest one, which has number 0. More than `n` bits must
/// be set.
__device__ __forceinline__ int place_of_bit(std::uint32_t low, std::uint32_t high, int n) {
  const int in_low = __popc(low);
  const bool is_high = n >= in_low;
  std::uint32_t bits = is_high ? high : low;
  n -= is_high ? in_low : 0;
  int place = is_high ? 32 : 0;
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    const int below = __popc(bits & ((1U << half) - 1U));
    const bool is_above = n >= below;
    bits >>= is_above ? half : 0;
    n -= is_above ? below : 0;
    place += is_above ? half : 0;
  }
  return place;
}

/// Writes the codes of one block into its zeroed words. The block's eight threads code eight nonzero levels at a time,
/// one each. The whole warp takes part.
__device__ __forceinline__ BlockLength write_block_codes(const std::int16_t* levels, const BlockHead& head, int plane,
                                                         int t, const CodeTables& tables, std::uint32_t* words) {
  const int kind = plane == 0 ? 0 : 1;
  const std::uint32_t* const codes = tables.ac[kind];
  const unsigned own_byte = (threadIdx.x & 31U) / 8;
  std::uint32_t low = 0;  // one bit for every level that is not zero
  std::uint32_t high = 0;
  for_8([&](auto j) {
    const unsigned ballot = __ballot_sync(kFullWarp, levels[j * 8 + t] != 0);
    // The ballot has one byte for each of the warp's four blocks. This block's byte becomes byte j of the block's
    // 64-bit mask of nonzero levels. kKeep selects the bytes: the new one at kPlace, and the old ones elsewhere.
    constexpr unsigned kPlace = j % 4 * 4;
    constexpr unsigned kKeep = (0x3210U & ~(0xFU << kPlace)) | 4U << kPlace;
    std::uint32_t& half = j < 4 ? low : high;
    half = __byte_perm(half, ballot, kKeep + (own_byte << kPlace));
  });
  low &= ~1U;  // DC is in the head
  const int count = __popc(low) + __popc(high);
  const BlockLength head_length = write_head(head, kind, t, tables, words);

  int position = head_length.all;
  int before = 0;  // zig-zag index of the last coded level
  for (int begin = 0; __any_sync(kFullWarp, begin < count); begin += 8) {
    const bool is_coded = begin + t < count;
    const int k = is_coded ? place_of_bit(low, high, begin + t) : 0;
    const int above = __shfl_up_sync(kFullWarp, k, 1, 8);
    const int zeros = k - 1 - (t == 0 ? before : above);
    before = __shfl_sync(kFullWarp, k, 7, 8);
    BitRun run;
    int zero_runs = 0;
    if (is_coded) {
      const int level = levels[k];
      zero_runs = zeros >> 4;
      const int size = value_size(level);
      run = code_with_value(codes[(zeros & 15) << 4 | size], level, size);
    }
    int length = run.length;
    std::uint32_t zero_code = 0;
    if (zero_runs > 0) {
      zero_code = codes[kZeroRunLength];
      length += zero_runs * static_cast<int>(zero_code >> 16);
    }
    const int end = scan_lanes<8>(length, t);
    int at = position + end - length;
    for (; zero_runs > 0; --zero_runs) {
      const BitRun zero_run{zero_code & 0xFFFFU, static_cast<int>(zero_code >> 16)};
      put_run(words, at, zero_run);
      at += zero_run.length;
    }
    put_run(words, at, run);
    position += __shfl_sync(kFullWarp, end, 7, 8);
  }
  if (high >> 31 == 0) {  // the last level is zero, so the block needs an end code
    const std::uint32_t code = codes[kEndOfBlock];
    const BitRun end{code & 0xFFFFU, static_cast<int>(code >> 16)};
    if (t == 0) put_run(words, position, end);
    position += end.length;
  }
  return {head_length.motion, position};
}

/// Writes the bits of a block into the segment's words by atomic ORs. Each of the block's eight threads takes every
/// eighth word.
__device__ __forceinline__ void place_block_bits(const std::uint32_t* words, int length, int offset, int t,
                                                 std::uint32_t* segment) {
  for (int w = t; w * 32 < length; w += 8) put_run(segment, offset + w * 32, {words[w], 32});
}

/// Where the bits of the calling thread's block begin in the segment, and how many bits the segment has. Every warp
/// computes both.
struct SegmentPlace {
  int offset = 0;
  int bits = 0;
};
__device__ __forceinline__ SegmentPlace place_in_segment(const SegmentMemory& memory, int block) {
  static_assert(kBlocksPerSegment % 2 == 0 && kBlocksPerSegment <= 64);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int2 pair{0, 0};
  if (lane * 2 < kBlocksPerSegment) pair = reinterpret_cast<const int2*>(memory.length)[lane];
  const int both = pair.x + pair.y;
  const int end = scan_lanes(both, lane);
  const int start = __shfl_sync(kFullWarp, end - both, block / 2);
  const int first = __shfl_sync(kFullWarp, pair.x, block / 2);
  return {start + (block % 2 == 0 ? 0 : first), __shfl_sync(kFullWarp, end, 31)};
}

/// Returns the index in SegmentMemory::dc of the level that is subtracted from a block's DC level. (DC levels are coded
/// as differences.)
__device__ __forceinline__ int dc_before(int block, int sub) {
  if (sub >= 1 && sub <= 3) return kCarriedBlocks + block - 1;  // the previous Y block
  if (block < kBlocksPerMcu) return sub == 0 ? 0 : sub - 3;     // carried from the previous segment
  return kCarriedBlocks + block - kBlocksPerMcu + (sub == 0 ? 3 : 0);
}

/// Writes the codes of a segment from the levels in shared memory. `words` is memory for the bits of this thread's
/// block, and must be zero. SegmentMemory::dc must be filled, and the threads synchronized after that, before this
/// call.
__device__ __forceinline__ void write_segment_codes(SegmentMemory& memory, const CodingJob& job, const Work& work,
                                                    BlockHead head, const std::int16_t* levels,
                                                    std::uint32_t* words) {
  head.dc_difference = memory.dc[kCarriedBlocks + work.block] - memory.dc[dc_before(work.block, work.sub)];
  const int plane = work.place.plane;
  const BlockLength length = write_block_codes(levels, head, plane, work.t, memory.tables, words);
  if (work.t == 0) {
    memory.length[work.block] = work.active ? length.all : 0;
    if (work.active) {
      atomicAdd(&memory.motion_bits, static_cast<unsigned>(length.motion));
      atomicAdd(&memory.coefficient_bits[plane == 0 ? 0 : 1], static_cast<unsigned>(length.all - length.motion));
    }
  }
  __syncthreads();

  const SegmentPlace place = place_in_segment(memory, work.block);
  const int segment_words = (place.bits + 31) / 32;
  for (int i = static_cast<int>(threadIdx.x); i < segment_words; i += kSegmentThreads) memory.segment_words[i] = 0;
  __syncthreads();
  if (work.active) place_block_bits(words, length.all, place.offset, work.t, memory.segment_words);
  __syncthreads();
  std::uint32_t* const out = job.scan.words + static_cast<std::size_t>(work.segment) * kMaxSegmentWords;
  for (int i = static_cast<int>(threadIdx.x); i < segment_words; i += kSegmentThreads) out[i] = memory.segment_words[i];
  if (threadIdx.x == 0) job.scan.bits[work.segment] = static_cast<std::uint32_t>(place.bits);
}

}  // namespace c63::cuda
