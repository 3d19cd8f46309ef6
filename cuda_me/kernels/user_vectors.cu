// Checks the vectors that a search of the user's own (c63/user_search.h) has found. A thread checks one block.

#include "cuda_me/kernels/rate_frame.h"

#include "codec/search_window.h"
#include "cuda_me/kernels/frame_batch.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "decide/vectors.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 128;

struct CheckedVector {
  MotionVector vector;
  std::uint32_t sad = 0;
};

__device__ __forceinline__ CheckedVector check_vector(const FrameLayout& layout, const CodingJob& job, int block, int luma_range) {
  const RateBlock place = rate_block(layout, block);
  const PlaneGeometry plane = plane_of(layout, place.plane);
  const int range = plane_search_range(luma_range, place.plane);
  CheckedVector checked{job.vectors[block]};
  if (range == 0) checked.vector = {0, 0};  // such a plane is not searched
  if (range > 0 && !user_vector_is_right(place.column, place.row, plane.width, plane.height, range, checked.vector)) {
    atomicMax(&job.state->wrong_vector, pack_wrong_vector(block, checked.vector));
    checked.vector = {0, 0};
  }
  const std::size_t first = first_sample(layout, place);
  const std::uint8_t* const current = job.current + first;
  const std::uint8_t* const reference = job.reference + first + static_cast<std::ptrdiff_t>(checked.vector.y) * plane.width + checked.vector.x;
#pragma unroll
  for (int i = 0; i < kBlockSize; ++i) {
    const uint2 a = *reinterpret_cast<const uint2*>(current + i * plane.width);
    const uint2 b = load_row_anywhere(reference + i * plane.width);
    checked.sad += __vsadu4(a.x, b.x) + __vsadu4(a.y, b.y);
  }
  return checked;
}

__global__ void __launch_bounds__(kThreads)
    check_vectors_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ FrameBatch batch, int luma_range) {
  const CodingJob& job = batch.jobs[blockIdx.y];
  const int block = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (job.reference == nullptr || block >= layout.blocks) return;
  const CheckedVector checked = check_vector(layout, job, block, luma_range);
  job.vectors[block] = checked.vector;
  job.sads[block] = static_cast<std::uint16_t>(checked.sad);
}

__global__ void __launch_bounds__(kThreads)
    check_rate_vectors_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames, int luma_range) {
  const RateFrame& frame = frames[blockIdx.y];
  const int block = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (frame.job.reference == nullptr || block >= layout.blocks) return;
  const CheckedVector checked = check_vector(layout, frame.job, block, luma_range);
  MotionVector* const found = frame.scratch.found + static_cast<std::size_t>(block) * kMaxFoundVectors;
  const int count = max(1, frame.rate.found_vectors);
  for (int i = 0; i < count; ++i) found[i] = checked.vector;  // one is found, and the last is repeated
  const int sad_per_bit = frame.rate.sad_per_bit;
  frame.scratch.found_costs[block] = static_cast<std::uint16_t>(checked.sad + component_cost(sad_per_bit, checked.vector.x) +
                                                                component_cost(sad_per_bit, checked.vector.y));
}

}  // namespace

void enqueue_check_vectors(const FrameLayout& layout, std::span<const CodingJob> jobs, int range, cudaStream_t stream) {
  const Range work("check vectors");
  for_each_batch(jobs, [&](const FrameBatch& batch, unsigned frames) {
    launch(check_vectors_kernel, {{divide_up(layout.blocks, kThreads), frames}, kThreads}, stream, layout, batch,
           range);
  });
}

void enqueue_check_vectors(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (!group.inter) return;
  const Range work("check vectors");
  launch(check_rate_vectors_kernel, {{divide_up(layout.blocks, kThreads), group.count}, kThreads}, stream, layout,
         group.frames, group.range);
}

}  // namespace c63::cuda
