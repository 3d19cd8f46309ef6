// Finds how much of a frame's error later frames inherit, and from that the weights of its MCUs (defined in
// decide/propagated_weights.h). The importance of a block is higher the more later blocks are predicted from it. The
// later frames are processed from the last one to the first. The threads of the grid synchronize after each frame.
// Blocks pass parts of their importance on to the blocks from which they are predicted. These parts are added in any
// order, but the result is always the same: they are never negative, and a sum only counts up to a limit.

#include <cooperative_groups.h>

#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/lookahead/lookahead_kernels.h"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocks = 16;  ///< few, because all must be resident at the same time
constexpr int kGridThreads = kThreads * kBlocks;
constexpr int kFlowThreads = 256;

__global__ void __launch_bounds__(kFlowThreads)
    error_flow_kernel(const SourceBlock* motion, int blocks, Cost lambda, PassedError* flow) {
  const int block = static_cast<int>(blockIdx.x * kFlowThreads + threadIdx.x);
  if (block >= blocks) return;
  const SourceBlock found = motion[block];
  flow[block] = {found.vector, passed_share(found.squared_error, lambda)};
}

/// Adds a part to a block's importance. The sum cannot overflow 32 bits. Parts of kSmall or more are added only while
/// the sum is below kMostImportance. If all blocks within reach of a vector add such parts at the same time, their
/// total stays below 2^31. Smaller parts are always added. Even if all blocks within reach add them in several frames,
/// their total stays below 2^31, too.
__device__ __forceinline__ void add_part(std::uint32_t* importance, std::uint32_t part) {
  constexpr std::uint32_t kSmall = 1 << 16;
  static_assert(std::uint64_t{33} * 33 * kMostFramesBack * kSmall < (std::uint64_t{1} << 31));
  if (part >= kSmall && __ldcg(importance) >= kMostImportance) return;
  atomicAdd(importance, part);
}

__device__ __forceinline__ std::uint32_t importance_at(const std::uint32_t* importances, int block) {
  return min(__ldcg(importances + block), kMostImportance);
}

__global__ void __launch_bounds__(kThreads)
    propagated_weights_kernel(const __grid_constant__ FrameLayout layout, const __grid_constant__ PropagationJob job) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int columns = layout.columns[0];
  const int blocks = layout.first_block[1];
  const int thread = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  // Returns the array of the frame that is `distance` frames after the frame to weight.
  const auto of_frame = [&](int distance) {
    return job.importances + static_cast<std::size_t>(distance % kPropagationArrays) * static_cast<std::size_t>(blocks);
  };
  const auto prepare = [&](int distance) {
    if (distance < 0) return;
    for (int block = thread; block < blocks; block += kGridThreads) __stcg(of_frame(distance) + block, kPlainImportance);
  };
  for (int distance = job.count; distance > job.count - kPropagationArrays + 1; --distance) prepare(distance);
  grid.sync();
  int dependents = 0;
  for (int i = job.count; i > 0; --i) {
    const LaterFlow later = job.later[i - 1];
    if (later.back == i) ++dependents;
    if (later.back <= i) {
      const std::uint32_t* const own = of_frame(i);
      std::uint32_t* const reference = of_frame(i - later.back);
      for (int block = thread; block < blocks; block += kGridThreads) {
        const PassedError passed_error = later.flow[block];
        const std::uint32_t passed = importance_at(own, block) * passed_error.share / kPlainImportance;
        if (passed == 0) continue;
        const int row = block / columns;
        pass_on(block - row * columns, row, passed_error.vector, passed, [&](int at_column, int at_row, std::uint32_t part) {
          add_part(reference + at_row * columns + at_column, part);
        });
      }
    }
    // The array of frame i + 1 is no longer needed. Prepares it for the frame that uses it next.
    prepare(i - kPropagationArrays + 1);
    grid.sync();
  }
  const std::uint32_t* const importances = of_frame(0);
  const int quarters = dependents_quarters(dependents);
  for (int mcu = thread; mcu < layout.mcus; mcu += kGridThreads) {
    const int row = mcu / layout.mcu_columns;
    const int block = 2 * row * columns + 2 * (mcu - row * layout.mcu_columns);
    const std::uint32_t mean = (importance_at(importances, block) + importance_at(importances, block + 1) +
                                importance_at(importances, block + columns) + importance_at(importances, block + columns + 1)) /
                               4;
    job.weights[mcu] = importance_weight(mean, quarters);
  }
}

}  // namespace

void enqueue_error_flow(const SourceBlock* motion, int blocks, Cost lambda, PassedError* flow, cudaStream_t stream) {
  launch(error_flow_kernel, {divide_up(blocks, kFlowThreads), kFlowThreads}, stream, motion, blocks, lambda, flow);
}

void enqueue_propagated_weights(const FrameLayout& layout, const PropagationJob& job, cudaStream_t stream) {
  const Range range("propagated weights");
  launch(propagated_weights_kernel, {kBlocks, kThreads, 0, Start::together}, stream, layout, job);
}

}  // namespace c63::cuda
