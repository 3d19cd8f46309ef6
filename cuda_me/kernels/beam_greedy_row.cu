// A beam search that keeps only one state (decide/greedy_row.h). It works on all blocks at once instead of one after
// another. A unit is the four Y blocks of an MCU, or one block of U or V. A joint is one of the few ways in which the
// previous unit can end. A thread block takes an MCU row. For each unit and each joint, it computes what the unit would
// choose after this joint. Then one thread walks the row from joint to joint. The choices on its path are kept.

#include "cuda_me/kernels/beam.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"
#include "decide/greedy_row.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kChunk = 256;   // blocks at a time; a multiple of a unit's blocks
constexpr int kBefore = 4;    // earlier blocks on which a joint may depend
constexpr int kMostWays = kChunk * RowUnit<1>::kJoints;  // all pairs of a unit and a joint
static_assert(kChunk / 4 * RowUnit<4>::kJoints <= kMostWays);

/// Shared memory of a row. Tables that depend on λ exist for each weight. If all MCUs have the same weight, they exist
/// only once.
template <bool kWeighted>
struct RowMemory {
  static constexpr int kLambdas = kWeighted ? kWeights : 1;
  NarrowBlock blocks[kBefore + kChunk];
  Cost least[kChunk];
  Cost costs[kMostWays];            ///< of each unit after each joint, minus the blocks' `least`
  std::uint16_t lanes[kMostWays];
  std::uint32_t next[kMostWays / 8];  ///< the joint after a unit for each joint before it; four bits each
  std::uint8_t joints[kChunk];        ///< the joint before each unit on the chosen path
  DcCosts dc_costs[kLambdas];
  Cost lambdas[kLambdas];
  Weight weights[kWeighted ? kChunk : 1];  ///< per unit

  /// Returns the index of a unit's λ in `dc_costs` and `lambdas`.
  [[nodiscard]] __device__ __forceinline__ int lambda_of(int unit) const { return kWeighted ? weights[unit] : 0; }
};

/// The cost of a row so far. Neighbouring MCUs of equal weight form a run. The costs in a run are added first. Then
/// their sum is converted to what it would be at weight kPlainWeight.
struct RowCost {
  long long cost = 0;
  long long run = 0;
  Weight weight = kPlainWeight;

  __device__ __forceinline__ void add(long long unit, Weight own) {
    if (own != weight) {
      end_run();
      weight = own;
    }
    run += unit;
  }
  __device__ __forceinline__ void end_run() {
    cost += reweigh_on_device(run, weight, kPlainWeight);
    run = 0;
  }
};

/// Loads a block's candidates into shared memory. Returns the smallest of their costs.
__device__ __forceinline__ Cost load_block(NarrowBlock& to, const RateFrame& frame, int block, Cost lambda) {
  int4 costs[2];
  Cost least = kInvalidCost;
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    costs[slot] = {kInvalidCost, kInvalidCost, kInvalidCost, kInvalidCost};
    if (slot < frame.slots) costs[slot] = reinterpret_cast<const int4*>(frame.scratch.costs)[block * frame.slots + slot];
    least = min(min(min(costs[slot].x, costs[slot].y), min(costs[slot].z, costs[slot].w)), least);
  }
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const int candidate = block * frame.slots + min(slot, frame.slots - 1);
    const PackedCandidate packed = frame.scratch.candidates[candidate];
    const int4& own = costs[slot];
    to.set_candidate(slot, {own.x, own.y, own.z, own.w}, least, vector_of_candidate(packed), bits_of_candidate(packed),
                     lambda);
    reinterpret_cast<short4*>(to.levels.data())[slot] = reinterpret_cast<const short4*>(frame.scratch.dc_levels)[candidate];
  }
  return least;
}

/// Chooses a lane for each block of a unit that follows `joint`. (A lane is a candidate with one of its DC levels.)
/// `block` points to the unit's first block. The blocks of the previous unit lie just before it in memory. Returns the
/// lanes as in RowUnit, and their total cost in `cost`.
template <int kBlocks>
__device__ __forceinline__ unsigned code_unit(const NarrowBlock* block, bool is_first, unsigned joint, const DcCosts& dc_costs,
                                              Cost lambda, Cost& cost) {
  using Unit = RowUnit<kBlocks>;
  GreedyRow state;
  if (!is_first) {
    const int lane = Unit::last_lane(joint);
    state.started = true;
    state.dc = block[-1].levels[lane];
    state.left[kBlocks == 4 ? 1 : 0] = block[-1].vectors[lane / kDcLevels];
    if constexpr (kBlocks == 4) state.left[0] = block[-3].vectors[Unit::upper_candidate(joint)];
  }
  unsigned lanes = 0;
  cost = 0;
#pragma unroll
  for (int b = 0; b < kBlocks; ++b) {
    const LaneCost chosen = extend_greedy_row(state, block[b], Unit::block_row(b), dc_costs, lambda);
    lanes |= chosen % NarrowBlock::kLanes << (kNarrowLaneBits * b);
    cost += static_cast<Cost>(chosen >> kNarrowLaneBits);
  }
  return lanes;
}

/// Chooses the lanes of `units` units, once for each joint. The first unit of a row follows no other unit, so its joint
/// is ignored.
template <int kBlocks, bool kWeighted>
__device__ __forceinline__ void code_units(RowMemory<kWeighted>& memory, int units, bool starts_row) {
  using Unit = RowUnit<kBlocks>;
  const int ways = units * Unit::kJoints;
  for (int first = 0; first < ways; first += kThreads) {
    if (first + static_cast<int>(threadIdx.x) / 32 * 32 >= ways) break;  // all lanes of a warp leave, or none
    const int way = first + static_cast<int>(threadIdx.x);
    const int unit = min(way / Unit::kJoints, units - 1);
    const int lambda = memory.lambda_of(unit);
    Cost cost;
    const unsigned lanes =
        code_unit<kBlocks>(memory.blocks + kBefore + unit * kBlocks, starts_row && unit == 0,
                           static_cast<unsigned>(way % Unit::kJoints), memory.dc_costs[lambda], memory.lambdas[lambda], cost);
    unsigned next = Unit::joint(lanes) << (4 * (threadIdx.x % 8));
#pragma unroll
    for (int by = 1; by < 8; by *= 2) next |= __shfl_xor_sync(kFullWarp, next, by);
    if (way >= ways) continue;
    memory.lanes[way] = static_cast<std::uint16_t>(lanes);
    memory.costs[way] = cost;
    if (way % 8 == 0) memory.next[way / 8] = next;
  }
}

/// Walks through `units` units, starting with `joint` before the first one. Stores the joint before each unit, and
/// returns the joint after the last unit. Called by one thread.
template <int kBlocks, bool kWeighted>
__device__ __forceinline__ unsigned walk(RowMemory<kWeighted>& memory, int units, unsigned joint) {
  constexpr int kWords = RowUnit<kBlocks>::kJoints / 8;
#pragma unroll 4
  for (int unit = 0; unit < units; ++unit) {
    memory.joints[unit] = static_cast<std::uint8_t>(joint);
    const std::uint32_t* const next = memory.next + unit * kWords;
    joint = (joint < 8 ? next[0] : next[kWords - 1]) >> (4 * (joint % 8)) & 15U;
  }
  return joint;
}

/// Adds the costs of the chosen path through the units of a weighted row to `cost`, in order. Called by one thread.
template <int kBlocks>
__device__ __forceinline__ void add_units(RowCost& cost, const RowMemory<true>& memory, int units) {
  for (int unit = 0; unit < units; ++unit) {
    long long own = memory.costs[unit * RowUnit<kBlocks>::kJoints + memory.joints[unit]];
    for (int b = 0; b < kBlocks; ++b) own += memory.least[unit * kBlocks + b];
    cost.add(own, memory.weights[unit]);
  }
}

/// Chooses the candidates and DC levels of one MCU row. `first_mcu` is its first MCU.
template <int kBlocks, bool kWeighted>
__device__ __forceinline__ void choose_row(RowMemory<kWeighted>& memory, const RateFrame& frame, const BeamRow& row,
                                           [[maybe_unused]] int first_mcu) {
  using Unit = RowUnit<kBlocks>;
  for (int i = static_cast<int>(threadIdx.x); i < RowMemory<kWeighted>::kLambdas * DcCosts::kSizes; i += kThreads) {
    const int which = i / DcCosts::kSizes;
    const Cost lambda = kWeighted ? frame.weighted.lambdas[which] : frame.rate.lambda;
    memory.dc_costs[which].set(i % DcCosts::kSizes, row.plane, lambda);
    if (i % DcCosts::kSizes == 0) memory.lambdas[which] = lambda;
  }
  long long cost = 0;
  RowCost weighted;
  unsigned joint = 0;
  for (int begin = 0; begin < row.count; begin += kChunk) {
    const int count = min(kChunk, row.count - begin);
    if (begin > 0) {
      __syncthreads();
      if (threadIdx.x < kBefore) memory.blocks[threadIdx.x] = memory.blocks[kChunk + threadIdx.x];
      __syncthreads();
    }
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      Cost lambda = frame.rate.lambda;
      if constexpr (kWeighted) {
        const Weight weight = weight_of(frame, row.plane, first_mcu + (begin + i) / kBlocks);
        lambda = frame.weighted.lambdas[weight];
        if (i % kBlocks == 0) memory.weights[i / kBlocks] = weight;
      }
      memory.least[i] = load_block(memory.blocks[kBefore + i], frame, row.block(begin + i), lambda);
    }
    __syncthreads();
    code_units<kBlocks>(memory, count / kBlocks, begin == 0);
    __syncthreads();
    if (threadIdx.x == 0) {
      joint = walk<kBlocks>(memory, count / kBlocks, joint);
      if constexpr (kWeighted) add_units<kBlocks>(weighted, memory, count / kBlocks);
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      const int unit = i / kBlocks;
      const int way = unit * Unit::kJoints + memory.joints[unit];
      store_winner(frame, row.block(begin + i), Unit::lane(memory.lanes[way], i % kBlocks));
      if constexpr (!kWeighted) {
        cost += memory.least[i];
        if (i % kBlocks == 0) cost += memory.costs[way];
      }
    }
  }
  if constexpr (kWeighted) {
    weighted.end_run();
    cost = weighted.cost;  // only in the first thread; 0 in the others
  }
  cost = sum_of_lanes(cost);
  if (threadIdx.x % 32 == 0) atomicAdd(&frame.job.state->cost, static_cast<unsigned long long>(cost));
}

/// One thread block takes an MCU row of a plane. The rows of Y come first: they are longer, and no long row should be
/// the last to start.
template <bool kWeighted>
__global__ void __launch_bounds__(kThreads)
    greedy_row_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  __shared__ RowMemory<kWeighted> memory;
  const RateFrame& frame = frames[blockIdx.y];
  const int mcu_rows = layout.mcus / layout.mcu_columns;
  const int plane = static_cast<int>(blockIdx.x) / mcu_rows;
  const int mcu_row = static_cast<int>(blockIdx.x) - plane * mcu_rows;
  const BeamRow row(layout, plane, mcu_row);
  const int first_mcu = mcu_row * layout.mcu_columns;
  if (plane == 0) {
    choose_row<4>(memory, frame, row, first_mcu);
  } else {
    choose_row<1>(memory, frame, row, first_mcu);
  }
}

}  // namespace

void enqueue_greedy_row(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  const Range range("beam");
  const int mcu_rows = layout.mcus / layout.mcu_columns;
  launch("greedy_row_kernel", group.is_weighted ? greedy_row_kernel<true> : greedy_row_kernel<false>,
         {dim3(static_cast<unsigned>(kPlanes * mcu_rows), static_cast<unsigned>(group.count)), dim3(kThreads)}, stream, layout,
         group.frames);
}

}  // namespace c63::cuda
