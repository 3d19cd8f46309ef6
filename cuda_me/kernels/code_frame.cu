// Codes frames in one kernel, from pictures and vectors to the bits of every block. So levels never go through device
// memory. This kernel is for frames that rate does not decide: levels are rounded, as in the course encoder.


#include "cuda_me/kernels/frame_segment.cuh"
#include "cuda_me/kernels/segment_codes.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

/// Computes the DC levels that a segment needs from the segment before it (kCarriedBlocks). It computes them from
/// samples, because another thread block codes that segment at the same time. Called by one warp.
__device__ __forceinline__ void carry_dc(SegmentMemory& memory, const FrameLayout& layout, const CodingJob& job,
                                         const Work& work) {
  int sum = 0;
  const int carried = min(work.block, kCarriedBlocks - 1);
  if (work.segment > 0) {
    const BlockPlace place = place_of(layout, work.segment * kMcusPerSegment - 1, 3 + carried);
    const bool inter = job.reference != nullptr;
    const MotionVector vector = inter ? job.vectors[index_of(layout, place)] : MotionVector{};
    const BlockRows before = load_rows(layout, job, place, inter, vector, work.t);
    sum = sum_of_bytes(before.current) - sum_of_bytes(before.prediction);
  }
  sum = sum_of_lanes<8>(sum);
  if (work.t == 0 && work.block < kCarriedBlocks) {
    memory.dc[carried] = work.segment > 0 ? dc_level(sum, load_quantizer(job.quantizers + carried * 64)) : 0;
  }
}

__global__ void __launch_bounds__(kSegmentThreads, kResidentSegments)
    code_frame_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ FrameBatch batch) {
  __shared__ SegmentMemory memory;
  const CodingJob& job = batch.jobs[blockIdx.y];
  const Work work = work_of_thread(layout);
  const BlockPlace& place = work.place;
  BlockHead head;
  head.has_vector = job.reference != nullptr;
  if (head.has_vector) {
    const MotionVector* const vector = job.vectors + index_of(layout, place);
    head.vector = *vector;
    head.reuse = place.column > 0 && vector[-1] == head.vector;
  }
  const BlockRows rows = load_rows(layout, job, place, head.has_vector, head.vector, work.t);
  const unsigned int sad = head.has_vector && place.plane == 0 && work.t == 0 ? job.sads[place.index] : 0;

  load_code_tables(memory.tables, kSegmentThreads);
  clear_totals(memory);
  if (threadIdx.x == 0 && blockIdx.x == 0) job.state->moments.coding_starts = device_clock();

  std::int16_t* const levels = memory.levels + work.block * kLevelsApart;
  const uint2 result =
      transform_block(rows, job.quantizers, place.plane, work.t, memory.numbers + work.block * kBlockWords, levels);
  const unsigned int error = store_block(layout, job, work, rows, result);
  __syncwarp();

  // Until the segment's bits are joined, only the warp of this block uses these words. So no other warp must be waited
  // for.
  std::uint32_t* const words = memory.bits + work.block * kBlockWords;
  for (int i = work.t; i < kBlockWords; i += 8) words[i] = 0;
  if (work.t == 0) memory.dc[kCarriedBlocks + work.block] = levels[0];
  if (threadIdx.x < 32) carry_dc(memory, layout, job, work);
  __syncthreads();
  if (work.active && work.t == 0) {
    atomicAdd(&memory.sse[place.plane], error);
    if (sad != 0) atomicAdd(&memory.luma_sad, sad);
  }
  write_segment_codes(memory, job, work, head, levels, words);
  if (threadIdx.x == 0) {
    add_errors(memory, *job.state);
    add_bits(memory, *job.state);
    atomicMax(&job.state->moments.coding_ends, device_clock());
  }
}

}  // namespace

QuantizerTable make_quantizer_table(const QuantizationTables& tables) {
  QuantizerTable quantizers;
  for (int plane = 0; plane < kPlanes; ++plane) {
    for (int k = 0; k < 64; ++k) {
      const int position = kZigZag[k];
      quantizers[plane * 64 + position % 8 * 8 + position / 8] = StepQuantizer(tables[plane][k]);
    }
  }
  return quantizers;
}

void enqueue_coding(const FrameLayout& layout, std::span<const CodingJob> jobs, cudaStream_t stream) {
  const Range range("transform and codes");
  for_each_batch(jobs, [&](const FrameBatch& batch, unsigned frames) {
    launch(code_frame_kernel, {{layout.segments, frames}, kSegmentThreads}, stream, layout, batch);
  });
}

}  // namespace c63::cuda
