// Lists the candidates of every block. In inter frames, these are the vectors to try: those of
// decide/vectors.h, or only the one that the search chose. Coding the block without a vector is a candidate
// in key frames, and in inter frames whose plan allows it.

#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"
#include "decide/vectors.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    list_candidates_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  const RateScratch& scratch = frame.scratch;
  const int block = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (block == 0) frame.job.state->moments.coding_starts = device_clock();
  if (block >= layout.blocks) return;
  PackedCandidate* const candidates = scratch.candidates + static_cast<std::size_t>(block) * frame.slots;
  int count = 0;
  const auto add = [&](MotionVector v) {
    candidates[count++] = pack_candidate(vector_number(v), kVectorFlagBits + vector_bits(v.x, v.y));
  };
  const bool may_have_vector = frame.job.reference != nullptr;
  if (may_have_vector && frame.rate.found_vectors == 0) add(scratch.chosen[block]);
  if (may_have_vector && frame.rate.found_vectors > 0) {
    const RateBlock place = rate_block(layout, block);
    const CandidateVectors vectors = candidate_vectors(
        plane_of(layout, place.plane), place.column, place.row, scratch.chosen + layout.first_block[place.plane],
        scratch.found + static_cast<std::size_t>(block) * kMaxFoundVectors, frame.rate.found_vectors);
    for (std::size_t i = 0; i < vectors.count(); ++i) add(vectors[i]);
  }
  if (!may_have_vector || frame.rate.unpredicted) candidates[count++] = pack_candidate(kNoVector, kNoVectorBits);
  scratch.counts[block] = static_cast<std::uint8_t>(count);
}

}  // namespace

void enqueue_list_candidates(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  const Range range("list candidates");
  launch("list_candidates_kernel", list_candidates_kernel,
         {dim3(blocks_for(layout.blocks, kThreads), static_cast<unsigned>(group.count)), dim3(kThreads)}, stream, layout,
         group.frames);
}

}  // namespace c63::cuda
