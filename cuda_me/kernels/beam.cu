// The cheapest ways through an MCU row of a plane (decide/beam.h has the definition), and back along the cheapest: a warp a
// row, a lane a candidate with a DC level. Every lane knows all states.

#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"
#include "decide/beam.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 64;
constexpr int kWarps = kThreads / 32;
static_assert(kBeamLanes == 32 && kMaxBeamWidth == 8);  // a choice is a byte: five bits of lane, three of parent

/// The blocks of a plane in one MCU row, in coding order.
struct Row {
  int plane = 0;
  int first = 0;    ///< block of its first column, in per-block arrays
  int columns = 0;  ///< of the plane
  int count = 0;

  /// The block at place i in coding order.
  [[nodiscard]] __device__ __forceinline__ int block(int i) const {
    return plane != 0 ? first + i : first + (i / 2 % 2) * columns + i / 4 * 2 + i % 2;
  }
  /// Its block row in the MCU row.
  [[nodiscard]] __device__ __forceinline__ int block_row(int i) const { return plane != 0 ? 0 : i / 2 % 2; }
};

/// Rows of all planes: those of Y, which are longest, first.
__device__ __forceinline__ Row row_of(const FrameLayout& layout, int number, int mcu_rows) {
  Row row;
  row.plane = number / mcu_rows;
  const int mcu_row = number - row.plane * mcu_rows;
  const int rows = row.plane == 0 ? 2 : 1;
  row.columns = layout.columns[row.plane];
  row.first = layout.first_block[row.plane] + mcu_row * rows * row.columns;
  row.count = rows * row.columns;
  return row;
}

/// What a lane stands for at a block.
struct LaneCandidate {
  Cost cost = kInvalidCost;
  int dc = 0;
  VectorNumber vector = kNoVector;
  int vector_bits = 0;
};

__device__ __forceinline__ LaneCandidate load_candidate(const RateFrame& frame, int block, int lane) {
  LaneCandidate candidate;
  const int slot = lane / kDcLevels;
  if (slot >= frame.slots) return candidate;
  const std::size_t at = static_cast<std::size_t>(block) * frame.slots + static_cast<std::size_t>(slot);
  const std::size_t at_level = at * kDcLevels + static_cast<std::size_t>(lane % kDcLevels);
  candidate.cost = frame.scratch.costs[at_level];
  candidate.dc = frame.scratch.dc_levels[at_level];  // unpredictable where the cost is invalid
  const PackedCandidate packed = frame.scratch.candidates[at];
  candidate.vector = vector_of_candidate(packed);
  candidate.vector_bits = bits_of_candidate(packed);
  return candidate;
}

/// The states, cheapest first; the same in all lanes.
template <int kWidth>
struct States {
  Cost cost[kWidth];
  int dc[kWidth];
  VectorNumber left[2][kWidth];
};

/// extend_beam(); returns its choices. `least` and `first` are what it adds to the beam's base.
template <int kWidth>
__device__ __forceinline__ std::uint64_t extend(States<kWidth>& states, int width, const LaneCandidate& candidate,
                                                bool started, int block_row, int plane, Cost lambda, int lane,
                                                Cost& least, Cost& first) {
  least = smallest_of_lanes(candidate.cost);
  const Cost own = min(candidate.cost - least, kMaxBeamCost);
  Cost best = kUnreachable;
  int parent = 0;
  VectorNumber other_left = states.left[0][0];
#pragma unroll
  for (int p = 0; p < kWidth; ++p) {
    const VectorNumber left = block_row == 0 ? states.left[0][p] : states.left[1][p];
    const VectorNumber other = block_row == 0 ? states.left[1][p] : states.left[0][p];
    const int motion = candidate.vector != kNoVector && candidate.vector == left ? kVectorFlagBits : candidate.vector_bits;
    const int dc = started ? dc_bits(candidate.dc - states.dc[p], plane) : 0;
    const Cost cost = states.cost[p] + own + lambda * (motion + dc);
    if (p < width && candidate.cost != kInvalidCost && states.cost[p] < kUnreachable && cost < best) {
      best = cost;
      parent = p;
      other_left = other;
    }
  }
  std::uint64_t choices = 0;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const Cost cheapest = i < width ? smallest_of_lanes(best) : kUnreachable;
    if (cheapest >= kUnreachable) {
      states.cost[i] = kUnreachable;
      continue;
    }
    const int winner = __ffs(static_cast<int>(__ballot_sync(kFullWarp, best == cheapest))) - 1;
    if (i == 0) first = cheapest;
    states.cost[i] = min(cheapest - first, kMaxBeamCost);
    states.dc[i] = __shfl_sync(kFullWarp, candidate.dc, winner);
    const VectorNumber vector = __shfl_sync(kFullWarp, candidate.vector, winner);
    const VectorNumber other = __shfl_sync(kFullWarp, other_left, winner);
    states.left[0][i] = block_row == 0 ? vector : other;
    states.left[1][i] = block_row == 0 ? other : vector;
    const int continued = __shfl_sync(kFullWarp, parent, winner);
    choices |= static_cast<std::uint64_t>(winner << 3 | continued) << (8 * i);
    if (lane == winner) best = kUnreachable;
  }
  return choices;
}

/// Goes back from the cheapest state at the row's end, 32 blocks at a time: each lane holds the choices of one.
__device__ __forceinline__ void trace_back(const RateFrame& frame, const Row& row, int lane) {
  const RateScratch& scratch = frame.scratch;
  int state = 0;
  for (int first = (row.count - 1) / 32 * 32; first >= 0; first -= 32) {
    const int i = first + lane;
    const int block = row.block(min(i, row.count - 1));
    const std::uint64_t choices = scratch.choices[block];
    int chosen = 0;
    for (int turn = min(31, row.count - 1 - first); turn >= 0; --turn) {
      const int choice = static_cast<int>(__shfl_sync(kFullWarp, choices, turn) >> (8 * state)) & 255;
      if (lane == turn) chosen = choice;
      state = choice & 7;
    }
    if (i >= row.count) continue;
    const int winner = chosen >> 3;
    const std::size_t candidate = static_cast<std::size_t>(block) * frame.slots + static_cast<std::size_t>(winner / kDcLevels);
    const auto dc = static_cast<std::size_t>(winner % kDcLevels);
    const VectorNumber vector = vector_of_candidate(scratch.candidates[candidate]);
    scratch.winners[block] = {static_cast<std::uint8_t>(winner / kDcLevels),
                              static_cast<std::uint8_t>(scratch.without_ac[candidate] >> dc & 1),
                              scratch.dc_levels[candidate * kDcLevels + dc]};
    if (frame.job.reference == nullptr) continue;
    frame.decided[block] = vector == kNoVector ? 1 : 0;
    frame.job.vectors[block] = vector == kNoVector ? inherited_source(frame.job, block) : vector_of(vector);
  }
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    beam_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int number = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) / 32;
  const int mcu_rows = layout.mcus / layout.mcu_columns;
  if (number >= kPlanes * mcu_rows) return;
  const Row row = row_of(layout, number, mcu_rows);
  const int width = frame.rate.beam_width;
  const Cost lambda = frame.rate.lambda;
  States<kWidth> states;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    states.cost[i] = i == 0 ? 0 : kUnreachable;
    states.dc[i] = 0;
    states.left[0][i] = states.left[1][i] = kNoVector;
  }
  long long base = 0;
  LaneCandidate next = load_candidate(frame, row.block(0), lane);
  for (int i = 0; i < row.count; ++i) {
    const LaneCandidate candidate = next;
    if (i + 1 < row.count) next = load_candidate(frame, row.block(i + 1), lane);
    Cost least = 0;
    Cost first = 0;
    const std::uint64_t choices =
        extend(states, width, candidate, i > 0, row.block_row(i), row.plane, lambda, lane, least, first);
    base += least + first;
    if (lane == 0) frame.scratch.choices[row.block(i)] = choices;
  }
  __syncwarp();
  trace_back(frame, row, lane);
  if (lane == 0) atomicAdd(&frame.job.state->cost, static_cast<unsigned long long>(base));
}

}  // namespace

void enqueue_beam(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  const Range range("beam");
  const auto kernel = group.beam_width <= 2 ? beam_kernel<2> : group.beam_width <= 4 ? beam_kernel<4> : beam_kernel<8>;
  const int rows = layout.mcus / layout.mcu_columns * kPlanes;
  launch("beam_kernel", kernel, {dim3(blocks_for(rows, kWarps), static_cast<unsigned>(group.count)), dim3(kThreads)},
         stream, layout, group.frames);
}

}  // namespace c63::cuda
