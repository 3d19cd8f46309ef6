// From pictures and vectors to the bits of every block, in one kernel: eight threads a block, a thread block a segment
// of MCUs. Levels never leave the chip unless asked for.

#include <algorithm>

#include "cuda_me/kernels/block_transform.cuh"
#include "cuda_me/kernels/segment_codes.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {
namespace {

/// Thread blocks a multiprocessor is to hold, which caps registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kResidentBlocks = 2;  // sm_75 holds 1024 threads
#else
constexpr int kResidentBlocks = 4;
#endif

__device__ constexpr CodeTables kCodeTables = make_code_tables();

__device__ __forceinline__ void add_totals(const SegmentMemory& memory, LaneState& state) {
  FrameTotals& totals = state.totals;
  for (int p = 0; p < kPlanes; ++p) atomicAdd(&totals.sse[p], static_cast<unsigned long long>(memory.sse[p]));
  atomicAdd(&totals.luma_sad, static_cast<unsigned long long>(memory.luma_sad));
  atomicAdd(&totals.motion_bits, static_cast<unsigned long long>(memory.motion_bits));
  atomicAdd(&totals.luma_bits, static_cast<unsigned long long>(memory.coefficient_bits[0]));
  atomicAdd(&totals.chroma_bits, static_cast<unsigned long long>(memory.coefficient_bits[1]));
  atomicMax(&state.moments.coding_ends, device_clock());
}

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
  sum = sum_of_lanes<8>(sum);
  if (work.t == 0 && work.block < kCarriedBlocks) {
    memory.dc[carried] = work.segment > 0 ? dc_level(sum, quantizers[carried == 0 ? 0 : 64]) : 0;
  }
}

/// kCodes: the codes are written here; otherwise levels are handed out.
template <bool kCodes>
__global__ void __launch_bounds__(kSegmentThreads, kResidentBlocks)
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
  for (int i = static_cast<int>(threadIdx.x); kCodes && i < kTableWords; i += kSegmentThreads) {
    reinterpret_cast<std::uint32_t*>(&memory.tables)[i] = reinterpret_cast<const std::uint32_t*>(&kCodeTables)[i];
  }
  if (threadIdx.x < kPlanes) memory.sse[threadIdx.x] = 0;
  if (threadIdx.x < 2) memory.coefficient_bits[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    memory.luma_sad = 0;
    memory.motion_bits = 0;
    if (blockIdx.x == 0) job.state->moments.coding_starts = device_clock();
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
  const unsigned int error = sum_of_lanes<8>(squared_error(rows.current, result, coded));
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
  if (threadIdx.x == 0) add_totals(memory, *job.state);
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
    const LaunchShape shape{dim3(static_cast<unsigned>(layout.segments), frames.x), dim3(kSegmentThreads)};
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
