// Chooses each block's vector: its own best one, or its left neighbour's (defined in cpu/cost_search.cpp). A block
// takes the neighbour's vector if two conditions hold. The vector stays inside the plane, and the block's SAD with it
// is smaller than the cost of the block's own best candidate (SAD and bits).
//
// If blocks chose one after another, each would have to wait for the SAD of the previous one. But every vector that
// blocks take from the left began as some block's own vector. So a walk follows a block's own vector to the right. It
// ends at the first block that does not take the vector, or that has the same own vector. The walks of all blocks run
// at the same time. Then the row's choices are found: the first block's walk is chosen. The block at which it ends
// begins the next chosen walk, and so on.

#include "codec/search_window.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "decide/vectors.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWalks = kThreads / 8;  // walks at the same time: eight threads take one, each with a row of samples

/// A walk: how far to the right blocks take a block's own vector.
struct Walk {
  std::uint32_t sads;  ///< sum of the SADs of the block and of those that take its vector
  std::uint16_t end;   ///< the first block that does not take it
  bool chosen;         ///< the block uses its own vector
};

/// The best vectors that the search found for a row's blocks, and their costs. Walks need them at every step. So they
/// are copied to shared memory, unless the row is too long.
struct RowFound {
  const MotionVector* vectors;
  const std::uint16_t* costs;
  int vectors_apart;

  [[nodiscard]] __device__ __forceinline__ MotionVector vector(int column) const { return vectors[column * vectors_apart]; }
};

/// The bytes of shared memory for a row. row_bytes() includes a copy of RowFound, walk_bytes() does not.
[[nodiscard]] constexpr std::size_t walk_bytes(int columns) { return static_cast<std::size_t>(columns) * sizeof(Walk); }
[[nodiscard]] constexpr std::size_t row_bytes(int columns) {
  return walk_bytes(columns) + static_cast<std::size_t>(columns) * (sizeof(MotionVector) + sizeof(std::uint16_t));
}

__device__ __forceinline__ std::uint32_t sad_of_rows(uint2 a, uint2 b) {
  return sum_of_lanes<8>(__vsadu4(a.x, b.x) + __vsadu4(a.y, b.y));
}

__global__ void __launch_bounds__(kThreads)
    choose_vectors_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames, bool keeps_found) {
  extern __shared__ __align__(16) std::uint8_t shared_bytes[];
  __shared__ int next;  // the next walk that no threads have taken
  auto* const walks = reinterpret_cast<Walk*>(shared_bytes);
  const RateFrame& frame = frames[blockIdx.y];
  if (frame.job.reference == nullptr) return;
  // Each thread block takes a row of blocks. The rows of Y come first, then those of U and V.
  const int chroma_rows = layout.mcus / layout.mcu_columns;
  const int number = static_cast<int>(blockIdx.x);
  const int plane_index = number < 2 * chroma_rows ? 0 : number < 3 * chroma_rows ? 1 : 2;
  const int row = plane_index == 0 ? number : number - (1 + plane_index) * chroma_rows;
  const PlaneGeometry plane = plane_of(layout, plane_index);
  const int columns = plane.columns;
  const int first = layout.first_block[plane_index] + row * columns;
  RowFound found{frame.scratch.found + static_cast<std::size_t>(first) * kMaxFoundVectors, frame.scratch.found_costs + first,
                 kMaxFoundVectors};
  if (keeps_found) {
    auto* const vectors = reinterpret_cast<MotionVector*>(walks + columns);
    auto* const costs = reinterpret_cast<std::uint16_t*>(vectors + columns);
    for (int column = static_cast<int>(threadIdx.x); column < columns; column += kThreads) {
      vectors[column] = found.vector(column);
      costs[column] = found.costs[column];
    }
    found = {vectors, costs, 1};
  }
  if (threadIdx.x == 0) next = kWalks;
  __syncthreads();
  const int t = static_cast<int>(threadIdx.x) % 8;
  const std::size_t start = layout.offset[plane_index] + static_cast<std::size_t>(row * kBlockSize + t) * plane.width;

  const int sad_per_bit = frame.rate.sad_per_bit;
  const unsigned group = 0xFFU << (threadIdx.x % 32 / 8 * 8);  // threads of the warp that follow the same vector
  int column = static_cast<int>(threadIdx.x) / 8;
  MotionVector vector{};
  std::uint32_t sads = 0;
  int at = 0;
  const auto begin = [&] {
    if (column >= columns) return;
    vector = found.vector(column);
    sads = found.costs[column] - component_cost(sad_per_bit, vector.x) - component_cost(sad_per_bit, vector.y);
    at = column + 1;
  };
  const auto may_go_on = [&] {
    return column < columns && at < columns && found.vector(at) != vector &&
           vector_is_legal(at, row, plane.width, plane.height, vector.x, vector.y);
  };
  begin();
  bool goes_on = may_go_on();
  for (;;) {
    while (!goes_on && column < columns) {  // the walk has ended: store it and take the next one
      if (t == 0) {
        walks[column] = {sads, static_cast<std::uint16_t>(at), false};
        column = atomicAdd(&next, 1);
      }
      column = __shfl_sync(group, column, 0, 8);
      begin();
      goes_on = may_go_on();
    }
    if (!__any_sync(kFullWarp, goes_on)) break;
    uint2 a{};
    uint2 b{};
    if (goes_on) {
      const std::size_t sample = start + static_cast<std::size_t>(at) * kBlockSize;
      a = __ldg(reinterpret_cast<const uint2*>(frame.job.current + sample));
      b = load_row_anywhere(frame.job.reference + sample + static_cast<std::ptrdiff_t>(vector.y) * plane.width + vector.x);
    }
    const std::uint32_t sad = sad_of_rows(a, b);
    if (!goes_on) continue;
    goes_on = sad < found.costs[at];
    if (!goes_on) continue;
    sads += sad;
    ++at;
    goes_on = may_go_on();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned long long sads = 0;
    for (int column = 0; column < columns; column = walks[column].end) {
      walks[column].chosen = true;
      sads += walks[column].sads;
    }
    if (plane_index == 0) atomicAdd(&frame.job.state->totals.luma_sad, sads);
  }
  __syncthreads();
  for (int column = static_cast<int>(threadIdx.x); column < columns; column += kThreads) {
    int from = column;
    while (!walks[from].chosen) --from;
    frame.scratch.chosen[first + column] = found.vector(from);
  }
}

// Lists the candidates of every block. In inter frames, these are the vectors to try: those of
// decide/vectors.h, or only the one that the search chose. Coding the block without a vector is a candidate
// in key frames, and in inter frames whose plan allows it.

constexpr int kListThreads = 128;

__global__ void __launch_bounds__(kListThreads)
    list_candidates_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames) {
  const RateFrame& frame = frames[blockIdx.y];
  const RateScratch& scratch = frame.scratch;
  const int block = static_cast<int>(blockIdx.x * kListThreads + threadIdx.x);
  if (block == 0) frame.job.state->moments.coding_starts = device_clock();
  if (block >= layout.blocks) return;
  PackedCandidate* const candidates = scratch.candidates + static_cast<std::size_t>(block) * frame.capacity;
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

void enqueue_choose_vectors(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (!group.inter) return;
  constexpr std::size_t kMost = kAlwaysAllowed - 16;  // less room for static shared memory
  const bool keeps_found = row_bytes(layout.columns[0]) <= kMost;
  const std::size_t bytes = keeps_found ? row_bytes(layout.columns[0]) : walk_bytes(layout.columns[0]);
  if (bytes > kMost) allow_shared_bytes(reinterpret_cast<const void*>(choose_vectors_kernel), bytes);
  const int rows = layout.mcus / layout.mcu_columns * 4;
  launch(choose_vectors_kernel, {{rows, group.count}, kThreads, bytes}, stream, layout, group.frames, keeps_found);
}

void enqueue_list_candidates(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  launch(list_candidates_kernel, {{divide_up(layout.blocks, kListThreads), group.count}, kListThreads}, stream, layout,
         group.frames);
}

}  // namespace c63::cuda
