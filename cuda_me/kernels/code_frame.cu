// From pictures and vectors to the bits of every block, in one kernel: eight threads a block, a thread block a segment
// of MCUs. Levels never leave the chip unless asked for.

#include <algorithm>

#include "codec/dct.h"
#include "codec/quantization.h"
#include "cuda_me/kernels/block_codes.cuh"
#include "cuda_me/kernels/frame_batch.cuh"
#include "cuda_me/kernels/transform.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = kBlocksPerSegment * 8;
/// Thread blocks a multiprocessor is to hold, which caps registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kResidentBlocks = 2;  // sm_75 holds 1024 threads
#else
constexpr int kResidentBlocks = 4;
#endif
/// Rows of a block in shared memory are 9 words apart and blocks 72, so that neither rows nor columns of a warp's four
/// blocks meet in a bank.
constexpr int kRowWords = 9;
constexpr int kBlockWords = 72;
static_assert(kMaxBlockWords + 1 <= kBlockWords);
/// The DC levels before a segment's first: of the last Y block, U and V of the MCU before.
constexpr int kCarriedBlocks = 3;

__device__ constexpr CodeTables kCodeTables = make_code_tables();
__device__ constexpr std::array<std::uint8_t, 64> make_order_by_column() {
  std::array<std::uint8_t, 64> order{};
  for (int k = 0; k < 64; ++k) order[(kZigZag[k] % 8) * 8 + kZigZag[k] / 8] = static_cast<std::uint8_t>(k);
  return order;
}
/// Zig-zag index of row v of column u at u·8 + v.
alignas(8) __device__ constexpr std::array<std::uint8_t, 64> kOrderByColumn = make_order_by_column();

struct SegmentMemory {
  CodeTables tables;
  /// A block's numbers between passes of the transform, then its bits.
  union {
    float numbers[kBlocksPerSegment * kBlockWords];
    std::uint32_t bits[kBlocksPerSegment * kBlockWords];
  };
  /// Levels in zig-zag order, then the bits of the whole segment.
  union {
    alignas(16) std::int16_t levels[kBlocksPerSegment * 64];
    std::uint32_t segment_words[kMaxSegmentWords];
  };
  int dc[kCarriedBlocks + kBlocksPerSegment];
  alignas(8) int length[kBlocksPerSegment];
  unsigned int sse[kPlanes];
  unsigned int luma_sad;
  unsigned int motion_bits;
  unsigned int coefficient_bits[2];
};

/// A block of the picture: which, and where.
struct BlockPlace {
  int plane = 0;
  int index = 0;  ///< in the plane
  int column = 0;
  std::size_t start = 0;  ///< of the block's first sample in its plane
};

__device__ __forceinline__ BlockPlace place_of(const FrameLayout& layout, int mcu, int sub) {
  const int mcu_row = mcu / layout.mcu_columns;
  const int mcu_column = mcu - mcu_row * layout.mcu_columns;
  const bool luma = sub < 4;
  BlockPlace place;
  place.plane = luma ? 0 : sub - 3;
  const int row = luma ? mcu_row * 2 + (sub >> 1) : mcu_row;
  place.column = luma ? mcu_column * 2 + (sub & 1) : mcu_column;
  const int columns = luma ? layout.mcu_columns * 2 : layout.mcu_columns;
  place.index = row * columns + place.column;
  place.start = static_cast<std::size_t>(row) * 8 * (columns * 8) + static_cast<std::size_t>(place.column) * 8;
  return place;
}

/// Eight samples of a row from any address on, by whole words.
__device__ __forceinline__ uint2 load_row_anywhere(const std::uint8_t* samples) {
  const auto address = reinterpret_cast<std::uintptr_t>(samples);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const unsigned shift = static_cast<unsigned>(address & 3) * 8;
  const std::uint32_t a = __ldg(words);
  const std::uint32_t b = __ldg(words + 1);
  const std::uint32_t c = __ldg(words + 2);
  return {__funnelshift_r(a, b, shift), __funnelshift_r(b, c, shift)};
}

struct BlockRows {
  uint2 current;
  uint2 prediction;
};

/// Row `t` of a block and of its prediction.
__device__ __forceinline__ BlockRows load_rows(const FrameLayout& layout, const FrameJob& job, const BlockPlace& place,
                                               MotionVector vector, int t) {
  const int width = layout.width[place.plane];
  const std::size_t at = layout.offset[place.plane] + place.start + static_cast<std::size_t>(t) * width;
  BlockRows rows{__ldg(reinterpret_cast<const uint2*>(job.current + at)), {0, 0}};
  if (job.reference != nullptr) {
    rows.prediction = load_row_anywhere(job.reference + at + static_cast<std::ptrdiff_t>(vector.y) * width + vector.x);
  }
  return rows;
}

/// The vector of a block; in key frames none is read.
__device__ __forceinline__ const MotionVector* vector_of(const FrameLayout& layout, const FrameJob& job,
                                                         const BlockPlace& place) {
  return job.vectors + layout.first_block[place.plane] + place.index;
}

__device__ __forceinline__ int sum_of_bytes(uint2 row) {
  return static_cast<int>(__vsadu4(row.x, 0) + __vsadu4(row.y, 0));
}

/// Sum over the eight threads of a block, in all of them.
template <typename T>
__device__ __forceinline__ T sum_of_eight(T value) {
  for (int step = 4; step > 0; step /= 2) value += __shfl_xor_sync(kFullWarp, value, step);
  return value;
}

/// Byte `i` of a row as a number: a byte in the last bits of 2^23 is worth that much more than 2^23.
__device__ __forceinline__ float raised_byte(uint2 row, int i) {
  const std::uint32_t word = i < 4 ? row.x : row.y;
  return __uint_as_float(__byte_perm(word, 0x4B000000U, 0x7540U + static_cast<unsigned>(i % 4)));
}

/// Magnitude of the level of a coefficient.
__device__ __forceinline__ float level_magnitude(float coefficient, const Quantizer& quantizer, bool is_dc, int plane) {
  const auto limit = static_cast<float>(is_dc ? kMaxDcMagnitude : max_ac_magnitude(plane));
  return fminf(quantizer.magnitude(fabsf(coefficient)), limit);
}

/// Four numbers cut to 0..255, the first one in the lowest byte.
__device__ __forceinline__ std::uint32_t pack_saturated(int a, int b, int c, int d) {
  std::uint32_t high;
  std::uint32_t all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(d), "r"(c));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(high));
  return all;
}

/// Prediction plus residual, cut to samples. An encoder's own residuals stay far within 16 bits (what quantization
/// takes away from a residual of at most 255 is below 3000), so the wrap of reconstruct_sample() never happens.
__device__ __forceinline__ std::uint32_t reconstruct_four(const int* residuals, std::uint32_t prediction) {
  const auto sample = [&](int i) {
    return residuals[i] + static_cast<int>(__byte_perm(prediction, 0, 0x4440U + static_cast<unsigned>(i)));
  };
  return pack_saturated(sample(0), sample(1), sample(2), sample(3));
}

/// The DC level of a block from the sum of its residual, which is what the transform gives for it: sums of integers.
__device__ __forceinline__ int dc_level(int residual_sum, const Quantizer& quantizer) {
  const float coefficient = scale_coefficient(static_cast<float>(residual_sum), 0, 0);
  return static_cast<int>(copysignf(level_magnitude(coefficient, quantizer, true, 0), coefficient));
}

/// Transform, quantization and reconstruction of one block; leaves its levels in shared memory. All of a warp take
/// part.
__device__ __forceinline__ uint2 transform_block(const BlockRows& rows, const Quantizer* quantizers, int plane, int t,
                                                 float* numbers, std::int16_t* levels) {
  float in[8];
  float out[8];
  for_8([&](auto i) { in[i] = raised_byte(rows.current, i) - raised_byte(rows.prediction, i); });
  forward_line(in, out);
  for_8([&](auto i) { numbers[t * kRowWords + i] = out[i]; });
  __syncwarp();
  for_8([&](auto j) { in[j] = numbers[j * kRowWords + t]; });
  forward_line(in, out);

  // Column t from here on: levels, and what a decoder makes of them.
  const auto order = *reinterpret_cast<const uint2*>(kOrderByColumn.data() + t * 8);
  const Quantizer* const column = quantizers + (plane == 0 ? 0 : 64) + t * 8;
  const float column_scale = t == 0 ? kDctScale : 1.0F;  // a product with one changes nothing
  std::uint32_t any = 0;
  for_8([&](auto v) {
    const float coefficient = scale_coefficient(out[v] * column_scale, v, 1);
    const Quantizer quantizer = column[v];
    const float level = level_magnitude(coefficient, quantizer, v == 0 && t == 0, plane);
    any |= __float_as_uint(level);
    const std::uint32_t k = __byte_perm(v < 4 ? order.x : order.y, 0, 0x4440U + v % 4);
    // The sum's last bits are the level in two's complement.
    levels[k] = static_cast<std::int16_t>(__float_as_uint(copysignf(level, coefficient) + 12582912.0F));
    in[v] = scale_coefficient(copysignf(quantizer.restored(level), coefficient) * column_scale, v, 1);
  });
  if (!__any_sync(kFullWarp, any != 0)) return rows.prediction;  // no residual in any of the warp's blocks

  for_8([&](auto v) { numbers[v * kRowWords + t] = in[v]; });
  __syncwarp();
  for_8([&](auto j) { in[j] = numbers[t * kRowWords + j]; });
  inverse_line(in, out);
  for_8([&](auto i) { numbers[t * kRowWords + i] = out[i]; });
  __syncwarp();
  for_8([&](auto j) { in[j] = numbers[j * kRowWords + t]; });
  inverse_line(in, out);
  for_8([&](auto i) { numbers[i * kRowWords + t] = __int_as_float(static_cast<int>(out[i])); });
  __syncwarp();
  int residuals[8];
  for_8([&](auto i) { residuals[i] = __float_as_int(numbers[t * kRowWords + i]); });
  return {reconstruct_four(residuals, rows.prediction.x), reconstruct_four(residuals + 4, rows.prediction.y)};
}

/// Squared error of a row's first `coded` samples.
__device__ __forceinline__ unsigned int squared_error(uint2 a, uint2 b, std::ptrdiff_t coded) {
  unsigned int x = __vabsdiffu4(a.x, b.x);
  unsigned int y = __vabsdiffu4(a.y, b.y);
  if (coded < 8) {
    const auto bits = static_cast<int>(coded > 0 ? coded * 8 : 0);
    x &= bits >= 32 ? ~0U : (1U << bits) - 1U;
    y &= bits <= 32 ? 0U : (1U << (bits - 32)) - 1U;
  }
  return __dp4a(x, x, __dp4a(y, y, 0U));
}

/// Inclusive prefix sums over the eight threads of a block.
__device__ __forceinline__ int scan_eight(int value, int t) {
  for (int step = 1; step < 8; step *= 2) {
    const int before = __shfl_up_sync(kFullWarp, value, step, 8);
    if (t >= step) value += before;
  }
  return value;
}

/// What precedes a block's coefficients.
struct BlockHead {
  MotionVector vector;
  bool inter = false;
  bool reuse = false;
  int dc_difference = 0;
};

/// Lengths of a block's bits.
struct BlockLength {
  int motion = 0;
  int all = 0;
};

/// Writes use_mv, reuse, vector and DC: a component a thread.
__device__ __forceinline__ BlockLength write_head(const BlockHead& head, int kind, int t, const CodeTables& tables,
                                                  std::uint32_t* words) {
  const int value = t == 0 ? head.vector.x : t == 1 ? head.vector.y : head.dc_difference;
  BitRun run;
  if (t == 2 || (t < 2 && head.inter && !head.reuse)) {
    const int size = value_size(value);
    run = code_with_value(tables.dc[t == 2 ? kind : 0][size], value, size);
  }
  if (t == 0) {
    if (!head.inter) {
      run.put_before(0, 1);
    } else {
      run.put_before(head.reuse ? 0b11 : 0b10, 2);
    }
  }
  const int end = scan_eight(run.length, t);
  put_run(words, end - run.length, run);
  return {__shfl_sync(kFullWarp, end, 1, 8), __shfl_sync(kFullWarp, end, 2, 8)};
}

/// The index of the last level that is not zero before zig-zag index k, or 0, where counting starts whatever DC is.
/// `low` and `high` have a bit for every level that is not zero.
template <int kHalf>
__device__ __forceinline__ int last_before(int k, std::uint32_t low, std::uint32_t high) {
  if constexpr (kHalf == 0) {
    return 31 - __clz(static_cast<int>((low | 1U) & ((1U << k) - 1U)));
  } else {
    const std::uint32_t near = high & ((1U << (k - 32)) - 1U);
    return near != 0 ? 63 - __clz(static_cast<int>(near)) : 31 - __clz(static_cast<int>(low | 1U));
  }
}

/// Writes the codes of one block into its zeroed words. Its eight threads take every eighth level each. All of a warp
/// take part.
__device__ __forceinline__ BlockLength write_block_codes(const std::int16_t* levels, const BlockHead& head, int plane,
                                                         int t, const CodeTables& tables, std::uint32_t* words) {
  const int kind = plane == 0 ? 0 : 1;
  const std::uint32_t* const codes = tables.ac[kind];
  const unsigned own_byte = (threadIdx.x & 31U) / 8;
  int own[8];
  unsigned ballots[8];
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  for_8([&](auto j) {
    own[j] = levels[j * 8 + t];
    ballots[j] = __ballot_sync(kFullWarp, own[j] != 0);
    // This block's byte of the ballot becomes byte j of its mask.
    constexpr unsigned kPlace = j % 4 * 4;
    constexpr unsigned kKeep = (0x3210U & ~(0xFU << kPlace)) | 4U << kPlace;
    std::uint32_t& half = j < 4 ? low : high;
    half = __byte_perm(half, ballots[j], kKeep + (own_byte << kPlace));
  });
  const BlockLength head_length = write_head(head, kind, t, tables, words);

  int position = head_length.all;
  for_8([&](auto j) {
    constexpr unsigned kCounted = j == 0 ? 0xFEFEFEFEU : 0xFFFFFFFFU;  // DC is in the head
    if ((ballots[j] & kCounted) == 0) return;
    BitRun run;
    int zero_runs = 0;
    if (own[j] != 0 && (j > 0 || t > 0)) {
      const int k = j * 8 + t;
      const int zeros = k - 1 - last_before<(j >= 4 ? 1 : 0)>(k, low, high);
      zero_runs = zeros >> 4;
      const int size = value_size(own[j]);
      run = code_with_value(codes[(zeros & 15) << 4 | size], own[j], size);
    }
    int length = run.length;
    std::uint32_t zero_code = 0;
    if (zero_runs > 0) {
      zero_code = codes[kZeroRunLength];
      length += zero_runs * static_cast<int>(zero_code >> 16);
    }
    const int end = scan_eight(length, t);
    int at = position + end - length;
    for (; zero_runs > 0; --zero_runs) {
      const BitRun zeros{zero_code & 0xFFFFU, static_cast<int>(zero_code >> 16)};
      put_run(words, at, zeros);
      at += zeros.length;
    }
    put_run(words, at, run);
    position += __shfl_sync(kFullWarp, end, 7, 8);
  });
  if (high >> 31 == 0) {  // the last level is zero
    const std::uint32_t code = codes[kEndOfBlock];
    const BitRun end{code & 0xFFFFU, static_cast<int>(code >> 16)};
    if (t == 0) put_run(words, position, end);
    position += end.length;
  }
  return {head_length.motion, position};
}

/// ORs the bits of a block into the segment's words; its eight threads take every eighth word each.
__device__ __forceinline__ void place_block_bits(const std::uint32_t* words, int length, int offset, int t,
                                                 std::uint32_t* segment) {
  for (int w = t; w * 32 < length; w += 8) put_run(segment, offset + w * 32, {words[w], 32});
}

/// Where the block of this thread starts in the segment, and how many bits the segment has. Every warp finds out by
/// itself.
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
  int end = both;
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(kFullWarp, end, step);
    if (lane >= step) end += before;
  }
  const int start = __shfl_sync(kFullWarp, end - both, block / 2);
  const int first = __shfl_sync(kFullWarp, pair.x, block / 2);
  return {start + (block % 2 == 0 ? 0 : first), __shfl_sync(kFullWarp, end, 31)};
}

__device__ __forceinline__ void add_totals(const SegmentMemory& memory, FrameTotals& totals) {
  for (int p = 0; p < kPlanes; ++p) atomicAdd(&totals.sse[p], static_cast<unsigned long long>(memory.sse[p]));
  atomicAdd(&totals.luma_sad, static_cast<unsigned long long>(memory.luma_sad));
  atomicAdd(&totals.motion_bits, static_cast<unsigned long long>(memory.motion_bits));
  atomicAdd(&totals.luma_bits, static_cast<unsigned long long>(memory.coefficient_bits[0]));
  atomicAdd(&totals.chroma_bits, static_cast<unsigned long long>(memory.coefficient_bits[1]));
}

/// What a thread of the kernel works on.
struct Work {
  BlockPlace place;
  BlockHead head;
  int segment = 0;
  int block = 0;  ///< in the segment
  int sub = 0;    ///< block of the MCU
  int t = 0;      ///< row or column of the block
  bool active = false;
};

/// The DC levels that a segment's first ones are coded against; by one warp.
__device__ __forceinline__ void carry_dc(SegmentMemory& memory, const FrameLayout& layout, const Quantizer* quantizers,
                                         const FrameJob& job, const Work& work) {
  int sum = 0;
  const int carried = min(work.block, kCarriedBlocks - 1);
  if (work.segment > 0) {
    const BlockPlace place = place_of(layout, work.segment * kMcusPerSegment - 1, 3 + carried);
    const MotionVector vector = work.head.inter ? *vector_of(layout, job, place) : MotionVector{};
    const BlockRows before = load_rows(layout, job, place, vector, work.t);
    sum = sum_of_bytes(before.current) - sum_of_bytes(before.prediction);
  }
  sum = sum_of_eight(sum);
  if (work.t == 0 && work.block < kCarriedBlocks) {
    memory.dc[carried] = work.segment > 0 ? dc_level(sum, quantizers[carried == 0 ? 0 : 64]) : 0;
  }
}

/// Where the DC level is that a block's is coded against, in SegmentMemory::dc.
__device__ __forceinline__ int dc_before(int block, int sub) {
  if (sub >= 1 && sub <= 3) return kCarriedBlocks + block - 1;  // the Y block before
  if (block < kBlocksPerMcu) return sub == 0 ? 0 : sub - 3;     // carried from the segment before
  return kCarriedBlocks + block - kBlocksPerMcu + (sub == 0 ? 3 : 0);
}

/// The codes of a segment from the levels in shared memory. Its threads have met since carry_dc().
__device__ __forceinline__ void write_segment_codes(SegmentMemory& memory, const FrameJob& job, const Work& work,
                                                    const std::int16_t* levels, std::uint32_t* words) {
  BlockHead head = work.head;
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
  for (int i = static_cast<int>(threadIdx.x); i < segment_words; i += kThreads) memory.segment_words[i] = 0;
  __syncthreads();
  if (work.active) place_block_bits(words, length.all, place.offset, work.t, memory.segment_words);
  __syncthreads();
  std::uint32_t* const out = job.scan.words + static_cast<std::size_t>(work.segment) * kMaxSegmentWords;
  for (int i = static_cast<int>(threadIdx.x); i < segment_words; i += kThreads) out[i] = memory.segment_words[i];
  if (threadIdx.x == 0) job.scan.bits[work.segment] = static_cast<std::uint32_t>(place.bits);
}

/// kCodes: the codes are written here; otherwise levels are handed out.
template <bool kCodes>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    code_frame_kernel(const __grid_constant__ FrameLayout layout, const Quantizer* __restrict__ quantizers,
                      const __grid_constant__ FrameBatch batch) {
  __shared__ SegmentMemory memory;
  const FrameJob& job = batch.jobs[blockIdx.y];
  Work work;
  work.segment = static_cast<int>(blockIdx.x);
  work.block = static_cast<int>(threadIdx.x) / 8;
  work.sub = work.block % kBlocksPerMcu;
  work.t = static_cast<int>(threadIdx.x) % 8;
  const int mcu = work.segment * kMcusPerSegment + work.block / kBlocksPerMcu;
  work.active = mcu < layout.mcus;
  // Threads behind the last MCU do its work again, so that warps stay whole, and write nothing.
  work.place = place_of(layout, work.active ? mcu : layout.mcus - 1, work.sub);
  const BlockPlace& place = work.place;
  work.head.inter = job.reference != nullptr;
  if (work.head.inter) {
    const MotionVector* const vector = vector_of(layout, job, place);
    work.head.vector = *vector;
    work.head.reuse = place.column > 0 && vector[-1] == work.head.vector;
  }
  const BlockRows rows = load_rows(layout, job, place, work.head.vector, work.t);
  const unsigned int sad = work.head.inter && place.plane == 0 && work.t == 0 ? job.sads[place.index] : 0;

  constexpr int kTableWords = sizeof(CodeTables) / sizeof(std::uint32_t);
  for (int i = static_cast<int>(threadIdx.x); kCodes && i < kTableWords; i += kThreads) {
    reinterpret_cast<std::uint32_t*>(&memory.tables)[i] = reinterpret_cast<const std::uint32_t*>(&kCodeTables)[i];
  }
  if (threadIdx.x < kPlanes) memory.sse[threadIdx.x] = 0;
  if (threadIdx.x < 2) memory.coefficient_bits[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    memory.luma_sad = 0;
    memory.motion_bits = 0;
  }

  std::int16_t* const levels = memory.levels + work.block * 64;
  const uint2 result =
      transform_block(rows, quantizers, place.plane, work.t, memory.numbers + work.block * kBlockWords, levels);
  const std::size_t in_plane = place.start + static_cast<std::size_t>(work.t) * layout.width[place.plane];
  const std::size_t in_picture = layout.offset[place.plane] + in_plane;
  if (work.active) {
    *reinterpret_cast<uint2*>(job.reconstruction + in_picture) = result;
    if (job.prediction != nullptr) *reinterpret_cast<uint2*>(job.prediction + in_picture) = rows.prediction;
  }
  const auto coded = static_cast<std::ptrdiff_t>(layout.coded[place.plane]) - static_cast<std::ptrdiff_t>(in_plane);
  const unsigned int error = sum_of_eight(squared_error(rows.current, result, coded));
  __syncwarp();

  // A block's words are all its own warp's until the segment is put together.
  std::uint32_t* const words = memory.bits + work.block * kBlockWords;
  if constexpr (kCodes) {
    for (int i = work.t; i < kBlockWords; i += 8) words[i] = 0;
    if (work.t == 0) memory.dc[kCarriedBlocks + work.block] = levels[0];
    if (threadIdx.x < 32) carry_dc(memory, layout, quantizers, job, work);
  }
  __syncthreads();
  if (work.active && work.t == 0) {
    atomicAdd(&memory.sse[place.plane], error);
    if (sad != 0) atomicAdd(&memory.luma_sad, sad);
  }
  if constexpr (kCodes) {
    write_segment_codes(memory, job, work, levels, words);
  } else {
    if (work.active) {
      const std::size_t index = static_cast<std::size_t>(layout.first_block[place.plane] + place.index) * 64;
      reinterpret_cast<uint4*>(job.levels + index)[work.t] = reinterpret_cast<const uint4*>(levels)[work.t];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) add_totals(memory, job.state->totals);
}

/// Ends a frame that has no scan.
__global__ void report_levels_kernel(const __grid_constant__ FrameBatch batch) {
  const FrameJob& job = batch.jobs[blockIdx.x];
  hand_out_totals(job);
  job.report->scan_bits = 0;
  job.report->scan_bytes = 0;
}

template <bool kCodes>
void enqueue(const FrameLayout& layout, const Quantizer* quantizers, std::span<const FrameJob> jobs,
             cudaStream_t stream) {
  while (!jobs.empty()) {
    const auto count = std::min<std::size_t>(jobs.size(), kMaxFramesPerLaunch);
    FrameBatch batch;
    std::ranges::copy(jobs.first(count), batch.jobs.begin());
    const dim3 frames(static_cast<unsigned>(count));
    const LaunchShape shape{dim3(static_cast<unsigned>(layout.segments), frames.x), dim3(kThreads)};
    launch("code_frame_kernel", code_frame_kernel<kCodes>, shape, stream, layout, quantizers, batch);
    if constexpr (!kCodes) launch("report_levels_kernel", report_levels_kernel, {frames, dim3(1)}, stream, batch);
    jobs = jobs.subspan(count);
  }
}

}  // namespace

QuantizerTable make_quantizer_table(const QuantizationTables& tables) {
  QuantizerTable quantizers;
  for (int kind = 0; kind < 2; ++kind) {
    for (int k = 0; k < 64; ++k) {
      const int position = kZigZag[k];
      quantizers[kind * 64 + position % 8 * 8 + position / 8] = Quantizer(tables[kind][k]);
    }
  }
  return quantizers;
}

void enqueue_coding(const FrameLayout& layout, const Quantizer* quantizers, std::span<const FrameJob> jobs,
                    cudaStream_t stream) {
  const Range range("transform and codes");
  enqueue<true>(layout, quantizers, jobs, stream);
}

void enqueue_levels(const FrameLayout& layout, const Quantizer* quantizers, std::span<const FrameJob> jobs,
                    cudaStream_t stream) {
  const Range range("transform");
  enqueue<false>(layout, quantizers, jobs, stream);
}

}  // namespace c63::cuda
