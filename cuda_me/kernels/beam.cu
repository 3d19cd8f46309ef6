// Chooses vectors and DC levels (the first levels of blocks) along an MCU row of a plane by a beam (defined in
// decide/beam.h). A state of the beam is one way to code the row so far. At the end, the choices of the cheapest state
// are followed back to the row's start. A group of lanes works on a row. A lane has one candidate with one DC level,
// and a copy of all states of the beam. With at most two candidates per block, a warp works on four rows.
//
// Each block depends on the one before it, so the time for a single block limits the speed. To keep it short,
// candidates are loaded several blocks ahead.

#include <type_traits>

#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "decide/beam.h"
#include "decide/greedy_row.h"

namespace c63::cuda {
namespace {

/// The blocks of a plane in one MCU row, in coding order.
struct BeamRow {
  int plane = 0;
  int first = 0;    ///< index of its first block in per-block arrays
  int columns = 0;  ///< blocks per row of the plane
  int count = 0;

  __device__ BeamRow(const FrameLayout& layout, int plane_index, int mcu_row)
      : plane(plane_index), columns(layout.columns[plane]) {
    const int rows = plane == 0 ? 2 : 1;
    first = layout.first_block[plane] + mcu_row * rows * columns;
    count = rows * columns;
  }
  /// Returns the place in per-block arrays of block number i in coding order.
  [[nodiscard]] __device__ __forceinline__ int block(int i) const {
    return plane != 0 ? first + i : first + (i / 2 % 2) * columns + i / 4 * 2 + i % 2;
  }
  /// Returns the row of block number i within the MCU row: 0 or 1 for Y, 0 for U and V.
  [[nodiscard]] __device__ __forceinline__ int block_row(int i) const { return plane != 0 ? 0 : i / 2 % 2; }
};

/// Stores the candidate and the DC level of lane `lane` as the choice for a block. In inter frames, also stores the
/// vector with which the block is predicted.
__device__ __forceinline__ void store_winner(const RateFrame& frame, int block, int lane) {
  const RateScratch& scratch = frame.scratch;
  const std::size_t candidate =
      static_cast<std::size_t>(block) * frame.capacity + static_cast<std::size_t>(lane / kDcLevels);
  const auto dc = static_cast<std::size_t>(lane % kDcLevels);
  const VectorNumber vector = vector_of_candidate(scratch.candidates[candidate]);
  scratch.winners[block] = {static_cast<std::uint8_t>(lane / kDcLevels),
                            static_cast<std::uint8_t>(scratch.without_ac[candidate] >> dc & 1),
                            scratch.dc_levels[candidate * kDcLevels + dc]};
  if (frame.job.reference == nullptr) return;
  frame.decided[block] = vector == kNoVector ? 1 : 0;
  frame.job.vectors[block] = vector == kNoVector ? inherited_source(frame.job, block) : vector_of(vector);
}

constexpr int kThreads = 64;
constexpr int kAhead = 4;  // blocks whose candidates are being loaded
constexpr int kLaneBits = 5;
static_assert(kBeamLanes == 1 << kLaneBits && kUnreachable <= 1 << (32 - kLaneBits));  // a word holds a cost and a lane
static_assert(kMaxBeamWidth == 8);  // a choice is a byte: five bits of lane, three of parent state

/// How the states after a block were chosen, one byte per state: the chosen lane, and the state before the block that
/// was extended. The lowest byte is the first state's.
template <int kWidth>
using Choices = std::conditional_t<kWidth <= 4, std::uint32_t, std::uint64_t>;

/// A group of neighbouring lanes of a warp that work on one row. Every function needs all lanes of the warp.
template <int kLanes>
struct LaneGroup {
  __device__ static __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  __device__ static __forceinline__ std::uint32_t smallest(std::uint32_t value) {
    if constexpr (kLanes == kWarp) {
      return warp_min(value);
    } else {
#pragma unroll
      for (int by = kLanes / 2; by > 0; by /= 2) value = min(value, __shfl_xor_sync(kFullWarp, value, by));
      return value;
    }
  }
  template <typename T>
  __device__ static __forceinline__ T of(T value, int lane) {
    return __shfl_sync(kFullWarp, value, lane, kLanes);
  }
};

/// A lane's candidate for a block, with one of its DC levels and the cost of both.
struct LaneCandidate {
  Cost cost;
  int dc;
  PackedCandidate packed;
};

/// Pointers to a lane's candidates. These copies stay in registers. Members of `frame` would be read again after each
/// write to memory, because the compiler cannot know that the write leaves them unchanged.
struct LaneSource {
  const Cost* costs;
  const std::int16_t* dc_levels;
  const PackedCandidate* candidates;
  int capacity;
  bool exists;  ///< the lane's candidate number is below `capacity`

  __device__ LaneSource(const RateFrame& frame, int lane)
      : capacity(frame.capacity), exists(lane / kDcLevels < capacity) {
    costs = frame.scratch.costs + lane;
    dc_levels = frame.scratch.dc_levels + lane;
    candidates = frame.scratch.candidates + lane / kDcLevels;
  }
  [[nodiscard]] __device__ __forceinline__ LaneCandidate load(int block) const {
    if (!exists) return {kInvalidCost, 0, 0};
    const int at = block * capacity;
    // If the cost is invalid, level and vector have no meaning, and nothing uses them.
    return {__ldg(costs + static_cast<std::ptrdiff_t>(at) * kDcLevels), __ldg(dc_levels + static_cast<std::ptrdiff_t>(at) * kDcLevels),
            __ldg(candidates + at)};
  }
};

/// The beam's states, cheapest first. Every lane has the same copy.
template <int kWidth>
struct States {
  Cost cost[kWidth];
  int dc[kWidth];
  VectorNumber left[2][kWidth];

  __device__ States() {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      cost[i] = i == 0 ? 0 : kUnreachable;
      dc[i] = 0;
      left[0][i] = left[1][i] = kNoVector;
    }
  }
};

/// Converts the costs of the states when the weight of MCUs changes from `from` to `to`, as reweigh_beam() does.
template <int kWidth>
__device__ __forceinline__ void reweigh_states(States<kWidth>& states, Weight from, Weight to) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if (states.cost[i] >= kUnreachable) continue;
    const long long there = reweigh_on_device(states.cost[i], from, to);
    states.cost[i] = there < kMaxBeamCost ? static_cast<Cost>(there) : kMaxBeamCost;
  }
}

/// Extends the beam by a block, as extend_beam() does, and returns how its states were chosen. `base` is Beam::base.
template <int kLanes, int kWidth>
__device__ __forceinline__ Choices<kWidth> extend(States<kWidth>& states, int width, const LaneCandidate& candidate,
                                                  bool started, int block_row, int plane, Cost lambda, long long& base) {
  using Group = LaneGroup<kLanes>;
  const auto lane = static_cast<std::uint32_t>(Group::lane());
  const VectorNumber vector = vector_of_candidate(candidate.packed);
  const int vector_bits = bits_of_candidate(candidate.packed);
  const auto least = static_cast<Cost>(Group::smallest(static_cast<std::uint32_t>(candidate.cost)));
  const Cost own = min(candidate.cost - least, kMaxBeamCost);
  Cost best = kUnreachable;
  int parent = 0;
  VectorNumber other_left = kNoVector;
#pragma unroll
  for (int p = 0; p < kWidth; ++p) {
    const VectorNumber left = block_row == 0 ? states.left[0][p] : states.left[1][p];
    const int motion = vector != kNoVector && vector == left ? kVectorFlagBits : vector_bits;
    const int dc = started ? dc_bits(candidate.dc - states.dc[p], plane) : 0;
    const Cost cost = states.cost[p] + own + lambda * (motion + dc);
    if (p < width && states.cost[p] < kUnreachable && cost < best) {
      best = cost;
      parent = p;
      other_left = block_row == 0 ? states.left[1][p] : states.left[0][p];
    }
  }
  if (candidate.cost == kInvalidCost) best = kUnreachable;
  constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  std::uint32_t key = best < kUnreachable ? static_cast<std::uint32_t>(best) << kLaneBits | lane : kNone;
  Choices<kWidth> choices = 0;
  Cost first = 0;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const std::uint32_t smallest = Group::smallest(i < width ? key : kNone);
    const auto winner = static_cast<int>(smallest & (kLanes - 1));
    const auto cost = static_cast<Cost>(smallest >> kLaneBits);
    if (i == 0) first = cost;
    states.cost[i] = smallest == kNone ? kUnreachable : min(cost - first, kMaxBeamCost);
    states.dc[i] = Group::of(candidate.dc, winner);
    const VectorNumber chosen = Group::of(vector, winner);
    const VectorNumber other = Group::of(other_left, winner);
    states.left[0][i] = block_row == 0 ? chosen : other;
    states.left[1][i] = block_row == 0 ? other : chosen;
    choices |= static_cast<Choices<kWidth>>(winner << 3 | Group::of(parent, winner)) << (8 * i);
    if (key == smallest) key = kNone;
  }
  base += least + first;
  return choices;
}

/// Follows the choices back from the cheapest state at the row's end, and stores the winning lane of each block. The
/// lanes load the choices of several blocks at a time, one block each.
template <int kLanes, int kWidth>
__device__ __forceinline__ void trace_back(const RateFrame& frame, const BeamRow& row, bool active) {
  using Group = LaneGroup<kLanes>;
  const RateScratch& scratch = frame.scratch;
  const auto* const all = reinterpret_cast<const Choices<kWidth>*>(scratch.choices);
  const auto choices_from = [&](int first) { return all[row.block(max(0, min(first + Group::lane(), row.count - 1)))]; };
  int state = 0;
  int first = (row.count - 1) / kLanes * kLanes;
  Choices<kWidth> next = choices_from(first);
  for (; first >= 0; first -= kLanes) {
    const Choices<kWidth> choices = next;
    next = choices_from(first - kLanes);
    int chosen = 0;
    for (int i = min(kLanes, row.count - first) - 1; i >= 0; --i) {
      const int choice = static_cast<int>(Group::of(choices, i) >> (8 * state)) & 255;
      if (Group::lane() == i) chosen = choice;
      state = choice & 7;
    }
    const int i = first + Group::lane();
    if (i < row.count && active) scratch.winning_lanes[row.block(i)] = static_cast<std::uint8_t>(chosen >> 3);
  }
}

/// Extends the beams of all MCU rows block by block, then follows their choices back. The rows of Y come first: they
/// are longer, and no long row should be the last to start. `warps` is the number of warps for each plane.
template <int kLanes, int kWidth, bool kWeighted>
__global__ void __launch_bounds__(kThreads)
    beam_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames, int warps) {
  constexpr int kRows = kWarp / kLanes;
  const RateFrame& frame = frames[blockIdx.y];
  const int warp = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) / kWarp;
  if (warp >= kPlanes * warps) return;
  const int plane = warp / warps;
  const int mcu_rows = layout.mcus / layout.mcu_columns;
  const int mcu_row = (warp - plane * warps) * kRows + static_cast<int>(threadIdx.x) % kWarp / kLanes;
  const bool active = mcu_row < mcu_rows;
  const BeamRow row(layout, plane, min(mcu_row, mcu_rows - 1));  // lanes without a row repeat the last one
  const int width = frame.rate.beam_width;
  Cost lambda = frame.rate.lambda;
  const int lane = LaneGroup<kLanes>::lane();
  auto* const choices = reinterpret_cast<Choices<kWidth>*>(frame.scratch.choices);
  States<kWidth> states;
  long long base = 0;
  const LaneSource source(frame, lane);
  const auto load = [&](int i) { return source.load(row.block(min(i, row.count - 1))); };
  [[maybe_unused]] const auto load_weight = [&](int i) {
    const int column = min(i, row.count - 1) / (plane == 0 ? 4 : 1);
    return weight_of(frame, plane, min(mcu_row, mcu_rows - 1) * layout.mcu_columns + column);
  };
  Weight weight = kPlainWeight;  // the weight that the costs refer to
  long long cost = 0;            // of earlier MCUs with other weights, converted to the plain weight
  LaneCandidate next[kAhead];
  [[maybe_unused]] Weight next_weights[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    next[i] = load(i);
    if constexpr (kWeighted) next_weights[i] = load_weight(i);
  }
  for (int begin = 0; begin < row.count; begin += kAhead) {
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      const int i = begin + ahead;
      if (i >= row.count) break;
      const LaneCandidate candidate = next[ahead];
      next[ahead] = load(i + kAhead);
      if constexpr (kWeighted) {
        const Weight own = next_weights[ahead];
        next_weights[ahead] = load_weight(i + kAhead);
        if (own != weight) {
          cost += reweigh_on_device(base, weight, kPlainWeight);
          base = 0;
          reweigh_states(states, weight, own);
          weight = own;
          lambda = frame.weighted.lambdas[own];
        }
      }
      const Choices<kWidth> chosen =
          extend<kLanes>(states, width, candidate, i > 0, row.block_row(i), row.plane, lambda, base);
      if (lane == 0 && active) choices[row.block(i)] = chosen;
    }
  }
  __syncwarp();
  trace_back<kLanes, kWidth>(frame, row, active);
  cost += reweigh_on_device(base, weight, kPlainWeight);
  if (lane == 0 && active) atomicAdd(&frame.job.state->cost, static_cast<unsigned long long>(cost));
}

constexpr int kWinnerThreads = 128;

/// Stores the chosen candidate and DC level of each block. A thread takes one block.
__global__ void __launch_bounds__(kWinnerThreads)
    winners_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  const int block = static_cast<int>(blockIdx.x * kWinnerThreads + threadIdx.x);
  if (block < layout.blocks) store_winner(frame, block, frame.scratch.winning_lanes[block]);
}

template <int kLanes, bool kWeighted>
auto kernel_for(int width) {
  if (kLanes == kWarp && width <= 1) return beam_kernel<kWarp, 1, kWeighted>;  // for fewer lanes, enqueue_greedy_row()
  return width <= 2   ? beam_kernel<kLanes, 2, kWeighted>
         : width <= 4 ? beam_kernel<kLanes, 4, kWeighted>
                      : beam_kernel<kLanes, 8, kWeighted>;
}
auto kernel_for(const RateGroup& group, bool few_lanes) {
  constexpr int kFew = 2 * kDcLevels;
  if (group.is_weighted) return few_lanes ? kernel_for<kFew, true>(group.beam_width) : kernel_for<kWarp, true>(group.beam_width);
  return few_lanes ? kernel_for<kFew, false>(group.beam_width) : kernel_for<kWarp, false>(group.beam_width);
}

// A beam search that keeps only one state (decide/greedy_row.h). It works on all blocks at once instead of one after
// another. A unit is the four Y blocks of an MCU, or one block of U or V. A joint is one of the few ways in which the
// previous unit can end. A thread block takes an MCU row. For each unit and each joint, it computes what the unit would
// choose after this joint. Then one thread walks the row from joint to joint. The choices on its path are kept.

constexpr int kRowThreads = 256;
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
  const auto* const all = reinterpret_cast<const int4*>(frame.scratch.costs);
  int4 costs[2];
  Cost least = kInvalidCost;
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    costs[slot] = {kInvalidCost, kInvalidCost, kInvalidCost, kInvalidCost};
    if (slot < frame.capacity) costs[slot] = all[block * frame.capacity + slot];
    least = min(min(min(costs[slot].x, costs[slot].y), min(costs[slot].z, costs[slot].w)), least);
  }
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const int candidate = block * frame.capacity + min(slot, frame.capacity - 1);
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
  for (int first = 0; first < ways; first += kRowThreads) {
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
  for (int i = static_cast<int>(threadIdx.x); i < RowMemory<kWeighted>::kLambdas * DcCosts::kSizes; i += kRowThreads) {
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
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kRowThreads) {
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
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kRowThreads) {
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
__global__ void __launch_bounds__(kRowThreads)
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

void enqueue_greedy_row(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  const int mcu_rows = layout.mcus / layout.mcu_columns;
  launch(group.is_weighted ? greedy_row_kernel<true> : greedy_row_kernel<false>,
         {{kPlanes * mcu_rows, group.count}, kRowThreads}, stream, layout, group.frames);
}

}  // namespace

void enqueue_beam(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (group.beam_width == 1 && group.capacity <= 2) return enqueue_greedy_row(layout, group, stream);
  const bool few = group.capacity <= 2;
  const int mcu_rows = layout.mcus / layout.mcu_columns;
  const int rows = few ? kWarp / (2 * kDcLevels) : 1;
  const int warps = divide_up(mcu_rows, rows);
  launch(kernel_for(group, few), {{divide_up(kPlanes * warps, kThreads / kWarp), group.count}, kThreads}, stream,
         layout, group.frames, warps);
  launch(winners_kernel, {{divide_up(layout.blocks, kWinnerThreads), group.count}, kWinnerThreads}, stream, layout,
         group.frames);
}

}  // namespace c63::cuda
