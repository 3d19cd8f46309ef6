// From pictures and vectors to the bits of every block, in one kernel: eight threads a block, a thread block a segment of
// MCUs. Levels never leave the chip unless asked for.

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
constexpr int kResidentBlocks = 3;
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
  int length[kBlocksPerSegment];
  int offset[kBlocksPerSegment];
  int segment_bits;
  unsigned int sse[kPlanes];
  unsigned int luma_sad;
  unsigned int motion_bits;
  unsigned int coefficient_bits[2];
};

/// A block of the picture: which, and where.
struct BlockPlace {
  int plane = 0;
  int index = 0;   ///< in the plane
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
                                               int t) {
  const int width = layout.width[place.plane];
  const std::size_t at = layout.offset[place.plane] + place.start + static_cast<std::size_t>(t) * width;
  BlockRows rows{__ldg(reinterpret_cast<const uint2*>(job.current + at)), {0, 0}};
  if (job.reference != nullptr) {
    const MotionVector vector = job.vectors[layout.first_block[place.plane] + place.index];
    rows.prediction = load_row_anywhere(job.reference + at + static_cast<std::ptrdiff_t>(vector.y) * width + vector.x);
  }
  return rows;
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

/// The level of a coefficient at zig-zag index k, as a number with the coefficient's sign.
__device__ __forceinline__ float level_of(float coefficient, const Quantizer& quantizer, bool is_dc, int plane) {
  const float limit = static_cast<float>(is_dc ? kMaxDcMagnitude : max_ac_magnitude(plane));
  return copysignf(fminf(quantizer.magnitude(fabsf(coefficient)), limit), coefficient);
}

/// The DC level of a block from the sum of its residual, which is what the transform gives for it: sums of integers.
__device__ __forceinline__ int dc_level(int residual_sum, const Quantizer& quantizer) {
  const float coefficient = scale_coefficient(static_cast<float>(residual_sum), 0, 0);
  return static_cast<int>(level_of(coefficient, quantizer, true, 0));
}

/// Transform, quantization and reconstruction of one block; leaves its levels in shared memory. All of a warp take part.
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
  bool any = false;
  for_8([&](auto v) {
    const float coefficient = scale_coefficient(out[v], v, t);
    const Quantizer quantizer = column[v];
    const float level = level_of(coefficient, quantizer, v == 0 && t == 0, plane);
    any = any || level != 0;
    const std::uint32_t k = ((v < 4 ? order.x : order.y) >> (v % 4 * 8)) & 0xFFU;
    // Its last bits are the level in two's complement.
    levels[k] = static_cast<std::int16_t>(__float_as_uint(level + 12582912.0F));
    in[v] = scale_coefficient(copysignf(quantizer.restored(fabsf(level)), level), v, t);
  });
  if (!__any_sync(kFullWarp, any)) return rows.prediction;  // no residual in any of the warp's blocks

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
  uint2 result{0, 0};
  for_8([&](auto i) {
    const int residual = __float_as_int(numbers[t * kRowWords + i]);
    const std::uint32_t word = i < 4 ? rows.prediction.x : rows.prediction.y;
    const auto prediction = static_cast<std::uint8_t>(word >> (i % 4 * 8));
    const std::uint32_t sample = reconstruct_sample(static_cast<std::int16_t>(residual), prediction);
    (i < 4 ? result.x : result.y) |= sample << (i % 4 * 8);
  });
  return result;
}

/// Squared error of those of a row's samples that belong to the picture.
__device__ __forceinline__ unsigned int squared_error(uint2 a, uint2 b, std::ptrdiff_t coded) {
  unsigned int sum = 0;
  for_8([&](auto i) {
    const auto x = static_cast<int>(((i < 4 ? a.x : a.y) >> (i % 4 * 8)) & 0xFFU);
    const auto y = static_cast<int>(((i < 4 ? b.x : b.y) >> (i % 4 * 8)) & 0xFFU);
    if (i < coded) sum += static_cast<unsigned int>((x - y) * (x - y));
  });
  return sum;
}

/// use_mv, reuse and vector of a block.
__device__ __forceinline__ BitRun motion_codes(const FrameLayout& layout, const FrameJob& job, const BlockPlace& place,
                                               const CodeTables& tables) {
  BitRun run;
  if (job.reference == nullptr) {
    run.append(0, 1);
    return run;
  }
  const MotionVector* const vector = job.vectors + layout.first_block[place.plane] + place.index;
  const MotionVector own = *vector;
  if (place.column > 0 && vector[-1] == own) {
    run.append(0b11, 2);
    return run;
  }
  run.append(0b10, 2);
  const int x_size = value_size(own.x);
  run.append_code(tables.dc[0][x_size], own.x, x_size);
  const int y_size = value_size(own.y);
  run.append_code(tables.dc[0][y_size], own.y, y_size);
  return run;
}

/// The code of the level at zig-zag index k > 0, with the runs of sixteen zeros before it. `nonzero` has a bit for every
/// level that is not zero.
__device__ __forceinline__ BitRun ac_codes(int level, int k, unsigned long long nonzero, const std::uint32_t* codes) {
  BitRun run;
  // Bit 0 is where counting starts, whatever the DC level is.
  const unsigned long long before = (nonzero | 1U) & ((1ULL << k) - 1U);
  int zeros = k - 1 - (63 - __clzll(static_cast<long long>(before)));
  for (; zeros >= 16; zeros -= 16) run.append_code(codes[kZeroRunLength], 0, 0);
  const int size = value_size(level);
  run.append_code(codes[zeros << 4 | size], level, size);
  return run;
}

/// Writes the codes of one block into its zeroed words; returns how many bits, and in `motion_length` those of motion. Its
/// eight threads take every eighth level each. All of a warp take part.
__device__ __forceinline__ int write_block_codes(const std::int16_t* levels, BitRun motion, int dc_difference, int plane,
                                                 int t, const CodeTables& tables, std::uint32_t* words) {
  const int kind = plane == 0 ? 0 : 1;
  const int shift = static_cast<int>(threadIdx.x & 31U) & ~7;
  int own[8];
  unsigned long long nonzero = 0;
  for_8([&](auto j) {
    own[j] = levels[j * 8 + t];
    const unsigned ballot = __ballot_sync(kFullWarp, own[j] != 0);
    nonzero |= static_cast<unsigned long long>((ballot >> shift) & 0xFFU) << (j * 8);
  });
  const int last = 63 - __clzll(static_cast<long long>(nonzero | 1U));
  const int rounds = static_cast<int>(max_of_warp(static_cast<unsigned>(last))) / 8 + 1;

  int position = 0;
  for_8([&](auto j) {
    if (j >= rounds) return;
    BitRun run;
    if (j == 0 && t == 0) {
      run = motion;
      const int size = value_size(dc_difference);
      run.append_code(tables.dc[kind][size], dc_difference, size);
    } else if (own[j] != 0) {
      run = ac_codes(own[j], j * 8 + t, nonzero, tables.ac[kind]);
    }
    int end = run.length;
    for (int step = 1; step < 8; step *= 2) {
      const int before = __shfl_up_sync(kFullWarp, end, step, 8);
      if (t >= step) end += before;
    }
    put_run(words, position + end - run.length, run);
    position += __shfl_sync(kFullWarp, end, 7, 8);
  });
  if (last < 63) {
    const std::uint32_t code = tables.ac[kind][kEndOfBlock];
    if (t == 0) put_run(words, position, {code & 0xFFFFU, static_cast<int>(code >> 16)});
    position += static_cast<int>(code >> 16);
  }
  return position;
}

/// ORs the bits of a block into the segment's words; its eight threads take every eighth word each.
__device__ __forceinline__ void place_block_bits(const std::uint32_t* words, int length, int offset, int t,
                                                 std::uint32_t* segment) {
  for (int w = t; w * 32 < length; w += 8) {
    const std::uint32_t word = words[w];
    const int position = offset + w * 32;
    const int shift = position & 31;
    const std::uint32_t high = word >> shift;
    const std::uint32_t low = shift == 0 ? 0 : word << (32 - shift);
    if (high != 0) atomicOr(segment + (position >> 5), high);
    if (low != 0) atomicOr(segment + (position >> 5) + 1, low);
  }
}

/// Where each block's bits start in the segment; by one warp.
__device__ __forceinline__ void scan_lengths(SegmentMemory& memory, int lane) {
  static_assert(kBlocksPerSegment % 2 == 0 && kBlocksPerSegment <= 64);
  const bool has = lane * 2 < kBlocksPerSegment;
  const int first = has ? memory.length[lane * 2] : 0;
  const int both = has ? first + memory.length[lane * 2 + 1] : 0;
  int end = both;
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(kFullWarp, end, step);
    if (lane >= step) end += before;
  }
  if (has) {
    memory.offset[lane * 2] = end - both;
    memory.offset[lane * 2 + 1] = end - both + first;
  }
  if (lane == 31) memory.segment_bits = end;
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
  int segment = 0;
  int block = 0;  ///< in the segment
  int sub = 0;    ///< block of the MCU
  int t = 0;      ///< row or column of the block
  bool active = false;
};

/// The codes of a segment from the levels in shared memory.
__device__ __forceinline__ void write_segment_codes(SegmentMemory& memory, const FrameLayout& layout, const FrameJob& job,
                                                    const Work& work, const std::int16_t* levels) {
  // A block's words are all its own warp's until the segment is put together.
  std::uint32_t* const words = memory.bits + work.block * kBlockWords;
  for (int i = work.t; i < kBlockWords; i += 8) words[i] = 0;
  if (work.t == 0) memory.dc[kCarriedBlocks + work.block] = levels[0];
  __syncthreads();

  BitRun motion;
  int dc_difference = 0;
  if (work.t == 0) {
    motion = motion_codes(layout, job, work.place, memory.tables);
    int previous = work.block - 1;  // the Y block before
    if (work.sub == 0 || work.sub > 3) {  // a block of the MCU before
      const int first = work.sub == 0 ? 3 : 0;
      previous = work.block >= kBlocksPerMcu ? work.block - kBlocksPerMcu + first : work.sub - (work.sub == 0 ? 3 : 6);
    }
    dc_difference = memory.dc[kCarriedBlocks + work.block] - memory.dc[kCarriedBlocks + previous];
  }
  const int plane = work.place.plane;
  const int length = write_block_codes(levels, motion, dc_difference, plane, work.t, memory.tables, words);
  if (work.t == 0) {
    memory.length[work.block] = work.active ? length : 0;
    if (work.active) {
      atomicAdd(&memory.motion_bits, static_cast<unsigned>(motion.length));
      atomicAdd(&memory.coefficient_bits[plane == 0 ? 0 : 1], static_cast<unsigned>(length - motion.length));
    }
  }
  __syncthreads();

  if (threadIdx.x < 32) scan_lengths(memory, static_cast<int>(threadIdx.x));
  __syncthreads();
  const int segment_words = (memory.segment_bits + 31) / 32;
  for (int i = static_cast<int>(threadIdx.x); i < segment_words; i += kThreads) memory.segment_words[i] = 0;
  __syncthreads();
  if (work.active) place_block_bits(words, length, memory.offset[work.block], work.t, memory.segment_words);
  __syncthreads();
  std::uint32_t* const out = job.scan.words + static_cast<std::size_t>(work.segment) * kMaxSegmentWords;
  for (int i = static_cast<int>(threadIdx.x); i < segment_words; i += kThreads) out[i] = memory.segment_words[i];
  if (threadIdx.x == 0) job.scan.bits[work.segment] = static_cast<std::uint32_t>(memory.segment_bits);
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
  const int first_mcu = work.segment * kMcusPerSegment;
  const int mcu = first_mcu + work.block / kBlocksPerMcu;
  work.active = mcu < layout.mcus;
  // Threads behind the last MCU do its work again, so that warps stay whole, and write nothing.
  work.place = place_of(layout, work.active ? mcu : layout.mcus - 1, work.sub);
  const BlockPlace& place = work.place;
  const BlockRows rows = load_rows(layout, job, place, work.t);

  constexpr int kTableWords = sizeof(CodeTables) / sizeof(std::uint32_t);
  for (int i = static_cast<int>(threadIdx.x); i < kTableWords; i += kThreads) {
    reinterpret_cast<std::uint32_t*>(&memory.tables)[i] = reinterpret_cast<const std::uint32_t*>(&kCodeTables)[i];
  }
  if (threadIdx.x < kPlanes) memory.sse[threadIdx.x] = 0;
  if (threadIdx.x < 2) memory.coefficient_bits[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    memory.luma_sad = 0;
    memory.motion_bits = 0;
  }
  if (kCodes && threadIdx.x < 32) {  // the DC levels that the segment's first ones are coded against
    int sum = 0;
    const int carried = min(work.block, kCarriedBlocks - 1);
    if (work.segment > 0) {
      const BlockRows before = load_rows(layout, job, place_of(layout, first_mcu - 1, 3 + carried), work.t);
      sum = sum_of_bytes(before.current) - sum_of_bytes(before.prediction);
    }
    sum = sum_of_eight(sum);
    if (work.t == 0 && work.block < kCarriedBlocks) {
      memory.dc[carried] = work.segment > 0 ? dc_level(sum, quantizers[carried == 0 ? 0 : 64]) : 0;
    }
  }
  __syncthreads();

  std::int16_t* const levels = memory.levels + work.block * 64;
  const uint2 result = transform_block(rows, quantizers, place.plane, work.t, memory.numbers + work.block * kBlockWords,
                                       levels);
  const std::size_t in_plane = place.start + static_cast<std::size_t>(work.t) * layout.width[place.plane];
  const std::size_t in_picture = layout.offset[place.plane] + in_plane;
  if (work.active) {
    *reinterpret_cast<uint2*>(job.reconstruction + in_picture) = result;
    if (job.prediction != nullptr) *reinterpret_cast<uint2*>(job.prediction + in_picture) = rows.prediction;
  }
  const auto coded = static_cast<std::ptrdiff_t>(layout.coded[place.plane]) - static_cast<std::ptrdiff_t>(in_plane);
  const unsigned int error = sum_of_eight(work.active ? squared_error(rows.current, result, coded) : 0U);
  if (work.active && work.t == 0) {
    atomicAdd(&memory.sse[place.plane], error);
    if (place.plane == 0 && job.reference != nullptr) atomicAdd(&memory.luma_sad, job.sads[place.index]);
  }
  __syncwarp();

  if constexpr (kCodes) {
    write_segment_codes(memory, layout, job, work, levels);
  } else {
    if (work.active) {
      const std::size_t index = static_cast<std::size_t>(layout.first_block[place.plane] + place.index) * 64;
      reinterpret_cast<uint4*>(job.levels + index)[work.t] = reinterpret_cast<const uint4*>(levels)[work.t];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) add_totals(memory, job.state->totals);

  if (!is_last_block(&job.state->blocks_done[0], gridDim.x)) return;
  if constexpr (kCodes) {
    unsigned long long* const offsets = job.scan.bit_offsets;
    scan_in_block<kThreads>(job.scan.bits, layout.segments,
                            [&](int i, unsigned long long offset) { offsets[i] = offset; });
  } else if (threadIdx.x == 0) {
    hand_out_totals(job);
    job.report->scan_bits = 0;
    job.report->scan_bytes = 0;
  }
}

template <bool kCodes>
void enqueue(const char* name, const FrameLayout& layout, const Quantizer* quantizers, std::span<const FrameJob> jobs,
             cudaStream_t stream) {
  while (!jobs.empty()) {
    const auto count = std::min<std::size_t>(jobs.size(), kMaxFramesPerLaunch);
    FrameBatch batch;
    std::ranges::copy(jobs.first(count), batch.jobs.begin());
    const LaunchShape shape{dim3(static_cast<unsigned>(layout.segments), static_cast<unsigned>(count)), dim3(kThreads)};
    launch(name, code_frame_kernel<kCodes>, shape, stream, layout, quantizers, batch);
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
  enqueue<true>("code_frame_kernel", layout, quantizers, jobs, stream);
}

void enqueue_levels(const FrameLayout& layout, const Quantizer* quantizers, std::span<const FrameJob> jobs,
                    cudaStream_t stream) {
  const Range range("transform");
  enqueue<false>("code_frame_kernel (levels)", layout, quantizers, jobs, stream);
}

}  // namespace c63::cuda
