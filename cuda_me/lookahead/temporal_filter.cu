// Averages frames with their neighbours along the motion of their blocks (defined in decide/temporal_filter.h). Eight
// threads work on a luma block and on the 4x4 samples of U and V that belong to it. Each has one row of the luma block,
// and one row of U or of V.

#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/lookahead/lookahead_kernels.h"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 128;

/// The offset of a plane in a frame without padding.
[[nodiscard]] __device__ __forceinline__ std::size_t linear_offset(const FrameLayout& layout, int plane) {
  return plane == 0 ? 0 : plane == 1 ? layout.coded[0] : layout.coded[0] + layout.coded[1];
}

/// Averages kCount neighbouring samples of one row with those of the neighbouring frames.
template <int kCount>
__device__ __forceinline__ void average_row(const FrameLayout& layout, const TemporalFilter& filter, const FilterJob& job,
                                            const float (&weights)[2 * kFilterReach], const MotionVector (&vectors)[2 * kFilterReach],
                                            int plane, int block_x, int block_y, int row) {
  const int shift = plane == 0 ? 0 : 1;
  const auto in_plane = [&](int x, int y) {
    return static_cast<std::size_t>((y >> shift) + row) * layout.width[plane] + static_cast<std::size_t>(x >> shift);
  };
  const std::size_t at = in_plane(block_x, block_y);
  const std::uint8_t* const own = job.current + layout.offset[plane] + at;
  const std::uint8_t* others[2 * kFilterReach];
  float shares[2 * kFilterReach];
#pragma unroll
  for (int n = 0; n < 2 * kFilterReach; ++n) {
    shares[n] = 0;
    if (n >= job.count) continue;
    int sum = 0;
    if (weights[n] != 0) {
      others[n] = job.neighbours[n].picture + layout.offset[plane] + in_plane(block_x + vectors[n].x, block_y + vectors[n].y);
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum += __ldg(others[n] + i) - __ldg(own + i);
    }
    // A block has kCount rows. Each of kCount lanes has summed the differences of one row, so the sum over these lanes
    // is that of the block.
    shares[n] = weights[n] * filter.mean_share(sum_of_lanes<kCount>(sum), kCount * kCount);
  }
  std::uint8_t* const to = job.averaged + linear_offset(layout, plane) + at;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    AveragedSample sample(__ldg(own + i));
#pragma unroll
    for (int n = 0; n < 2 * kFilterReach; ++n) {
      if (n < job.count && shares[n] != 0) sample.add(__ldg(others[n] + i), shares[n], filter.falloff());
    }
    if (at + static_cast<std::size_t>(i) < layout.coded[plane]) to[i] = static_cast<std::uint8_t>(sample.rounded());
  }
}

__global__ void __launch_bounds__(kThreads)
    temporal_filter_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ TemporalFilter filter,
                           const __grid_constant__ FilterJob job, int blocks) {
  const int thread = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  // The sums over lanes need whole warps. So lanes past the last block repeat the last block.
  const int block = min(thread / 8, blocks - 1);
  const int t = thread % 8;
  const int x = block % layout.columns[0] * kBlockSize;
  const int y = block / layout.columns[0] * kBlockSize;
  float weights[2 * kFilterReach];
  MotionVector vectors[2 * kFilterReach];
#pragma unroll
  for (int n = 0; n < 2 * kFilterReach; ++n) {
    weights[n] = 0;
    if (n >= job.count) continue;
    const SourceBlock found = job.neighbours[n].motion[block];
    weights[n] = filter.block_weight(job.neighbours[n].distance, found.squared_error);
    vectors[n] = found.vector;
  }
  average_row<8>(layout, filter, job, weights, vectors, 0, x, y, t);
  average_row<4>(layout, filter, job, weights, vectors, 1 + t / 4, x, y, t % 4);
}

}  // namespace

void enqueue_temporal_filter(const FrameLayout& layout, const TemporalFilter& filter, const FilterJob& job, cudaStream_t stream) {
  const Range range("temporal filter");
  const int blocks = layout.first_block[1];
  launch(temporal_filter_kernel, {divide_up(8 * blocks, kThreads), kThreads}, stream, layout, filter, job, blocks);
}

}  // namespace c63::cuda
