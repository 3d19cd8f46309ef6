// Computes the cost of each candidate with each of its possible DC levels. A thread takes one candidate and chooses its
// AC levels: by D + λR, or by rounding, as the frame's plan says.

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "decide/beam.h"
#include "decide/rdoq.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kResident = 4;  // thread blocks that a multiprocessor must be able to hold; limits the registers

/// What decisions in a block depend on: its quantizer, code lengths and λ.
struct BlockDecisions {
  const c63::Quantizer& quantizer;
  const AcBits& bits;
  Cost lambda;
};

__device__ __forceinline__ TransformedBlock transformed(const CandidateSummary& summary) {
  TransformedBlock block;
  block.residual_sum = summary.residual_sum;
  block.residual_squares = summary.residual_squares;
  block.ac = {summary.kept, summary.energy};
  return block;  // the coefficients are not needed here
}

/// The candidates of a thread block, one per thread, sorted by their amount of work. So the lanes of a warp have about
/// equal work. This saves time, because a warp takes as long as its slowest lane.
struct WorkOrder {
  static constexpr int kClasses = 64;
  unsigned ends[kClasses];
  std::uint16_t items[kThreads];

  /// Sorts the candidates by their amount of work. `work` is the number of AC coefficients, 0 to 63, of the calling
  /// thread's candidate that may be coded. All threads call it, and it ends with a barrier.
  __device__ __forceinline__ void put(unsigned work) {
    if (threadIdx.x < kClasses) ends[threadIdx.x] = 0;
    __syncthreads();
    const unsigned place = atomicAdd(&ends[work], 1U);
    __syncthreads();
    if (threadIdx.x < 32) {
      const unsigned even = ends[2 * threadIdx.x];
      const unsigned both = even + ends[2 * threadIdx.x + 1];
      const unsigned before = scan_lanes(both, static_cast<int>(threadIdx.x)) - both;
      __syncwarp();
      ends[2 * threadIdx.x] = before;
      ends[2 * threadIdx.x + 1] = before + even;
    }
    __syncthreads();
    items[ends[work] + place] = static_cast<std::uint16_t>(threadIdx.x);
    __syncthreads();
  }
  /// Returns the number of candidates without work. They come first in the order.
  [[nodiscard]] __device__ __forceinline__ unsigned without_work() const { return ends[1]; }
};

/// The coefficients of each thread's candidate, in shared memory. A thread reads them one by one, and each value
/// decides which one it reads next. In device memory, each of these reads would take long. A row is an odd number of
/// words. So there are no bank conflicts when threads read the same coefficient of their candidates, nor when they load
/// rows.
struct CoefficientRows {
  static constexpr int kWords = 33;
  std::uint32_t words[kThreads * kWords];

  /// Loads the coefficients of the calling warp's candidates. Eight threads load a row. `first` is the thread block's
  /// first candidate.
  __device__ __forceinline__ void bring(const std::int16_t* coefficients, std::size_t first, const WorkOrder& order) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = threadIdx.x - lane + 4 * i + lane / 8;
      if (row < order.without_work()) continue;
      const uint4 eight = __ldg(reinterpret_cast<const uint4*>(coefficients + (first + order.items[row]) * kBlockSamples) + lane % 8);
      std::uint32_t* const to = words + row * kWords + 4 * (lane % 8);
      to[0] = eight.x;
      to[1] = eight.y;
      to[2] = eight.z;
      to[3] = eight.w;
    }
    __syncwarp();
  }
  [[nodiscard]] __device__ __forceinline__ const std::int16_t* own() const {
    return reinterpret_cast<const std::int16_t*>(words + threadIdx.x * kWords);
  }
};

/// Stores a candidate's costs and levels for the beam.
__device__ __forceinline__ void store_costs(const RateScratch& scratch, std::size_t candidate,
                                            const CandidateSummary& summary, const AcChoice& choice,
                                            const BlockDecisions& by) {
  const DcLevels dc = dc_levels(summary.dc, by.quantizer.steps[0], by.quantizer.reciprocals[0]);
  std::uint8_t without_ac;
  const auto costs =
      block_costs(transformed(summary), dc, choice.cost, by.quantizer, by.bits, by.lambda, without_ac);
  reinterpret_cast<int4*>(scratch.costs)[candidate] = {costs[0], costs[1], costs[2], costs[3]};
  reinterpret_cast<short4*>(scratch.dc_levels)[candidate] = {dc.levels[0], dc.levels[1], dc.levels[2], dc.levels[3]};
  scratch.without_ac[candidate] = without_ac;
  scratch.masks[candidate] = {choice.coded, choice.lower};
}

__device__ __forceinline__ BlockDecisions decisions_of(const FrameLayout& layout, const RateFrame& frame, const AcBitTables& bits,
                                                       int block) {
  const RateBlock place = rate_block(layout, block);
  return {frame.quantizers[place.plane], bits.planes[place.plane == 0 ? 0 : 1],
          frame.weighted.lambdas[weight_of(layout, frame, place)]};
}

__global__ void __launch_bounds__(kThreads, kResident)
    choose_levels_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  __shared__ AcBitTables bits;
  __shared__ WorkOrder order;
  __shared__ CoefficientRows rows;
  const RateFrame& frame = frames[blockIdx.y];
  const RateScratch& scratch = frame.scratch;
  const auto capacity = static_cast<unsigned>(frame.capacity);
  const unsigned end = static_cast<unsigned>(layout.blocks) * capacity;
  const unsigned first = blockIdx.x * kThreads;
  if (first >= end) return;
  load_ac_bits(bits);
  const auto is_candidate = [&](unsigned number) {
    return number < end && number % capacity < scratch.counts[number / capacity];
  };
  const unsigned own = first + threadIdx.x;
  order.put(is_candidate(own) ? static_cast<unsigned>(__popcll(scratch.summaries[own].kept)) : 0);
  rows.bring(scratch.coefficients, first, order);
  const unsigned candidate = first + order.items[threadIdx.x];
  if (candidate >= end) return;
  if (!is_candidate(candidate)) {
    reinterpret_cast<int4*>(scratch.costs)[candidate] = {kInvalidCost, kInvalidCost, kInvalidCost, kInvalidCost};
    return;
  }
  const BlockDecisions by = decisions_of(layout, frame, bits, static_cast<int>(candidate / capacity));
  const CandidateSummary summary = scratch.summaries[candidate];
  const AcSummary ac{summary.kept, summary.energy};
  AcChoice choice{summary.energy + by.lambda * by.bits.end_of_block, 0, 0};
  if (summary.kept != 0) {
    choice = frame.rate.choose_levels ? choose_ac_masks(rows.own(), ac, by.quantizer, by.bits, by.lambda)
                                      : round_ac_masks(rows.own(), ac, by.quantizer, by.bits, by.lambda);
  }
  store_costs(scratch, candidate, summary, choice, by);
}

}  // namespace

void enqueue_choose_levels(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  launch(choose_levels_kernel, {{divide_up(layout.blocks * group.capacity, kThreads), group.count}, kThreads}, stream,
         layout, group.frames);
}

}  // namespace c63::cuda
