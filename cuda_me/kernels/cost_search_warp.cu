// Full search by SAD and vector cost. A warp takes a block, and each lane compares every 32nd candidate. Each lane
// keeps a sorted list of its best candidates. In the end the warp takes the best candidates from these lists, one by
// one.

#include "codec/search_window.h"
#include "cuda_me/kernels/cost_search.h"
#include "cuda_me/kernels/key_list.cuh"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;

template <int kCount>
__global__ void __launch_bounds__(kThreads)
    cost_search_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames, int luma_range) {
  const RateFrame& frame = frames[blockIdx.y];
  const int block = static_cast<int>((blockIdx.x * kThreads + threadIdx.x) / kWarp);
  if (frame.job.reference == nullptr || block >= layout.blocks) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const RateBlock place = rate_block(layout, block);
  const PlaneGeometry plane = plane_of(layout, place.plane);
  const SearchWindow window = whole_search_window(place.column, place.row, plane.width, plane.height,
                                                  plane_search_range(luma_range, place.plane));
  const int x = place.column * kBlockSize;
  const int y = place.row * kBlockSize;
  const std::uint8_t* const current = frame.job.current + first_sample(layout, place);
  uint2 rows[kBlockSize];
#pragma unroll
  for (int i = 0; i < kBlockSize; ++i) rows[i] = __ldg(reinterpret_cast<const uint2*>(current + i * plane.width));

  KeyList<kCount> list;
  const int width = window.right - window.left;
  const int candidates = width * (window.bottom - window.top);
  for (int index = lane; index < candidates; index += kWarp) {
    const int at_x = window.left + index % width;
    const int at_y = window.top + index / width;
    const std::uint8_t* const from = frame.job.reference + layout.offset[place.plane] +
                                     static_cast<std::size_t>(at_y) * plane.width + at_x;
    std::uint32_t sad = 0;
#pragma unroll
    for (int i = 0; i < kBlockSize; ++i) {
      const uint2 row = load_row_anywhere(from + i * plane.width);
      sad = absdiff4_add(row.x, rows[i].x, absdiff4_add(row.y, rows[i].y, sad));
    }
    const int sad_per_bit = frame.rate.sad_per_bit;
    list.insert(candidate_key(sad + component_cost(sad_per_bit, at_x - x) + component_cost(sad_per_bit, at_y - y),
                              static_cast<std::uint32_t>(index)));
  }

  MotionVector* const found = frame.scratch.found + static_cast<std::size_t>(block) * kMaxFoundVectors;
  const int count = max(1, frame.rate.found_vectors);
  std::uint32_t last = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const std::uint32_t best = list.take_smallest();
    if (best != kNoCandidate) last = best;  // if too few were found, repeats the last one
    if (lane != 0 || i >= count) continue;
    const int index = static_cast<int>(last & 0xFFFFU);
    found[i] = {static_cast<std::int8_t>(window.left + index % width - x),
                static_cast<std::int8_t>(window.top + index / width - y)};
    if (i == 0) frame.scratch.found_costs[block] = static_cast<std::uint16_t>(best >> 16);
  }
}

}  // namespace

void enqueue_cost_search_warp(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (!group.inter) return;
  const Range range("cost search");
  const auto kernel = group.found_vectors <= 1   ? cost_search_kernel<1>
                      : group.found_vectors <= 2 ? cost_search_kernel<2>
                      : group.found_vectors <= 4 ? cost_search_kernel<4>
                                                 : cost_search_kernel<kMaxFoundVectors>;
  const LaunchShape shape{dim3(blocks_for(layout.blocks, kThreads / kWarp), static_cast<unsigned>(group.count)),
                          dim3(kThreads)};
  launch("cost_search_warp", kernel, shape, stream, layout, group.frames, group.range);
}

}  // namespace c63::cuda
