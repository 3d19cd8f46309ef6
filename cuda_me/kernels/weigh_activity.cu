// Computes the weights of MCUs by luma activity (defined in decide/weights.h). A first kernel computes each
// MCU's activity and their sum, a second one the weights.

#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "decide/weights.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// Computes activities. A warp takes an MCU; each lane has half a row of its luma.
__global__ void __launch_bounds__(kThreads)
    activity_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  if (frame.rate.activity_power == 0) return;
  const int mcu = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  if (mcu >= layout.mcus) return;
  const unsigned lane = threadIdx.x % 32;
  const int row = mcu / layout.mcu_columns;
  const std::size_t x = static_cast<std::size_t>(mcu - row * layout.mcu_columns) * kMcuSize + lane % 2 * kBlockSize;
  const std::size_t y = static_cast<std::size_t>(row) * kMcuSize + lane / 2;
  const uint2 samples = __ldg(reinterpret_cast<const uint2*>(frame.job.current + layout.offset[0] + y * layout.width[0] + x));
  constexpr unsigned kOnes = 0x01010101U;
  unsigned sum = __dp4a(samples.x, kOnes, __dp4a(samples.y, kOnes, 0U));
  unsigned squares = __dp4a(samples.x, samples.x, __dp4a(samples.y, samples.y, 0U));
  for (const int by : {2, 4, 8}) {  // sums over the rows of an 8x8 block
    sum += __shfl_xor_sync(kFullWarp, sum, by);
    squares += __shfl_xor_sync(kFullWarp, squares, by);
  }
  unsigned variance = variance_share(sum, squares);
  for (const int by : {1, 16}) variance += __shfl_xor_sync(kFullWarp, variance, by);
  if (lane != 0) return;
  const int activity = activity_of(variance);
  frame.scratch.activities[mcu] = static_cast<std::int16_t>(activity);
  atomicAdd(&frame.job.state->activity, static_cast<unsigned long long>(activity));
}

/// Computes weights, one thread per MCU.
__global__ void __launch_bounds__(kThreads)
    weights_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  const int mcu = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (frame.rate.activity_power == 0 || mcu >= layout.mcus) return;
  const auto mean = static_cast<int>(frame.job.state->activity / static_cast<unsigned long long>(layout.mcus));
  const Weight weight = activity_weight(frame.scratch.activities[mcu], mean, frame.rate.activity_power);
  frame.scratch.weights[mcu] =
      frame.planned_weights == nullptr ? weight : combined_weight(weight, frame.planned_weights[mcu]);
}

}  // namespace

void enqueue_weights(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (!group.weighs_activity) return;
  launch(activity_kernel, {{divide_up(layout.mcus, kWarps), group.count}, kThreads}, stream, layout, group.frames);
  launch(weights_kernel, {{divide_up(layout.mcus, kThreads), group.count}, kThreads}, stream, layout, group.frames);
}

}  // namespace c63::cuda
