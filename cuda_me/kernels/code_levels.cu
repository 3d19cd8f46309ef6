// A frame in two kernels, with levels kept in between; code_frame.cu does it in one. For frames with blocks without a vector, and for codes that
// the host writes.
//
// A segment's levels are kept in the memory of its codes. Only its own thread block reads them, before it writes any word. The DC levels that the
// next segment needs are kept separately.

#include "cuda_me/kernels/frame_segment.cuh"
#include "cuda_me/kernels/segment_codes.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {
namespace {

/// The levels of a segment, in chunks of eight; a block has eight chunks.
__device__ __forceinline__ uint4* kept_levels(const FrameJob& job, int segment) {
  static_assert(kMaxSegmentWords * 4 % sizeof(uint4) == 0 && kBlocksPerSegment * 32 <= kMaxSegmentWords);
  return reinterpret_cast<uint4*>(job.scan.words + static_cast<std::size_t>(segment) * kMaxSegmentWords);
}

__device__ __forceinline__ bool has_vector(const FrameJob& job, int block) {
  return job.reference != nullptr && (job.unpredicted == nullptr || job.unpredicted[block] == 0);
}

/// The vector that a block is predicted with, no_vector() for zero.
__device__ __forceinline__ MotionVector source_of(const FrameJob& job, int block, bool has_vector) {
  if (has_vector) return job.vectors[block];
  return job.inherited != nullptr ? job.inherited[block] : no_vector();
}

__global__ void __launch_bounds__(kSegmentThreads, kResidentSegments)
    transform_frame_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ FrameBatch batch) {
  __shared__ SegmentMemory memory;
  const FrameJob& job = batch.jobs[blockIdx.y];
  const Work work = work_of_thread(layout);
  const BlockPlace& place = work.place;
  const int block = index_of(layout, place);
  const bool searched = has_vector(job, block);
  const MotionVector source = source_of(job, block, searched);
  const BlockRows rows = load_rows(layout, job, place, source != no_vector(), source, work.t);
  const unsigned int sad = searched && place.plane == 0 && work.t == 0 ? job.sads[place.index] : 0;
  clear_totals(memory);
  if (threadIdx.x == 0 && blockIdx.x == 0) job.state->moments.coding_starts = device_clock();

  std::int16_t* const levels = memory.levels + work.block * kLevelsApart;
  const uint2 result =
      transform_block(rows, job.quantizers, place.plane, work.t, memory.numbers + work.block * kBlockWords, levels);
  const unsigned int error = store_block(layout, job, work, rows, result);
  __syncthreads();
  if (work.active) {
    kept_levels(job, work.segment)[work.block * 8 + work.t] = reinterpret_cast<const uint4*>(levels)[work.t];
    if (work.t == 0) {
      atomicAdd(&memory.sse[place.plane], error);
      if (sad != 0) atomicAdd(&memory.luma_sad, sad);
      // Not earlier, because threads past the last MCU have read it, too.
      if (job.reference != nullptr && !searched) job.vectors[block] = source;
      const int carried = work.block - (kBlocksPerSegment - kCarriedBlocks);
      if (carried >= 0) job.scan.last_dc[work.segment * kLastDcLevels + carried] = levels[0];
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    add_errors(memory, *job.state);
    atomicMax(&job.state->moments.coding_ends, device_clock());
  }
}

__global__ void __launch_bounds__(kSegmentThreads, kResidentSegments)
    code_levels_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ FrameBatch batch) {
  __shared__ SegmentMemory memory;
  const FrameJob& job = batch.jobs[blockIdx.y];
  const Work work = work_of_thread(layout);
  const int block = index_of(layout, work.place);
  BlockHead head;
  head.has_vector = has_vector(job, block);
  if (head.has_vector) {
    head.vector = job.vectors[block];
    head.reuse = work.place.column > 0 && has_vector(job, block - 1) && job.vectors[block - 1] == head.vector;
  }
  load_code_tables(memory.tables, kSegmentThreads);
  clear_totals(memory);
  uint4 eight{};
  if (work.active) eight = kept_levels(job, work.segment)[work.block * 8 + work.t];
  std::int16_t* const levels = memory.levels + work.block * kLevelsApart;
  reinterpret_cast<uint4*>(levels)[work.t] = eight;
  std::uint32_t* const words = memory.bits + work.block * kBlockWords;
  for (int i = work.t; i < kBlockWords; i += 8) words[i] = 0;
  if (work.t == 0) memory.dc[kCarriedBlocks + work.block] = static_cast<std::int16_t>(eight.x);
  if (threadIdx.x < kCarriedBlocks) {
    const int carried = static_cast<int>(threadIdx.x);
    memory.dc[carried] = work.segment > 0 ? job.scan.last_dc[(work.segment - 1) * kLastDcLevels + carried] : 0;
  }
  __syncthreads();
  write_segment_codes(memory, job, work, head, levels, words);
  if (threadIdx.x == 0) {
    add_bits(memory, *job.state);
    atomicMax(&job.state->moments.coding_ends, device_clock());
  }
}

__global__ void report_kernel(const __grid_constant__ FrameBatch batch) {
  const FrameJob& job = batch.jobs[blockIdx.x];
  hand_out_totals(job);
  job.report->scan_bits = 0;
  job.report->scan_bytes = 0;
}

LaunchShape shape_of(const FrameLayout& layout, unsigned frames) {
  return {dim3(static_cast<unsigned>(layout.segments), frames), dim3(kSegmentThreads)};
}

}  // namespace

void enqueue_transform(const FrameLayout& layout, std::span<const FrameJob> jobs, cudaStream_t stream) {
  const Range range("transform");
  for_each_batch(jobs, [&](const FrameBatch& batch, unsigned frames) {
    launch("transform_frame_kernel", transform_frame_kernel, shape_of(layout, frames), stream, layout, batch);
  });
}

void enqueue_codes(const FrameLayout& layout, std::span<const FrameJob> jobs, cudaStream_t stream) {
  const Range range("codes");
  for_each_batch(jobs, [&](const FrameBatch& batch, unsigned frames) {
    launch("code_levels_kernel", code_levels_kernel, shape_of(layout, frames), stream, layout, batch);
  });
}

void enqueue_report(std::span<const FrameJob> jobs, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FrameBatch& batch, unsigned frames) {
    launch("report_kernel", report_kernel, {dim3(frames), dim3(1)}, stream, batch);
  });
}

}  // namespace c63::cuda
