#pragma once

// Successive elimination for every range, plane and architecture, by SAD alone or with the cost of vectors. A thread
// block takes a tile, and each warp a column of four blocks. Ranges above 16 take several passes.

#include "cuda_me/kernels/motion_eliminate.cuh"

namespace c63::cuda {

inline constexpr int kEliminateWarps = kEliminateColumns;
inline constexpr int kEliminateThreads = kEliminateWarps * kWarp;
inline constexpr int kEliminateResident = 3;  ///< thread blocks per multiprocessor

struct EliminateJob {
  MotionJob job;
  int tile_columns = 0;
  int first_tile = 0;  ///< index in the grid of this job's first tile
  bool words = false;  ///< both planes can be read four samples at a time
};

struct EliminateBatch {
  std::array<EliminateJob, kBatchJobs> jobs;
  int count;
};

#if defined(__CUDACC__)

struct alignas(16) EliminateShared {
  std::uint32_t words[kWordRows * kWordColumns];     ///< the samples x..x+3
  std::uint32_t sums[kSumRows * kWordColumns];       ///< bytes A of the window
  uint4 current[kBlockSize / 2 * kEliminateBlocks];  ///< block by block, two rows each
  std::uint8_t current_sums[kEliminateBlocks * 4];   ///< bytes A of the current blocks' squares
  std::uint8_t slacks[kEliminateBlocks * 4];         ///< slacks of the current blocks' squares
};

/// The smallest keys of each block of a tile, in order.
template <int kCount>
using EliminateBest = std::uint32_t[kEliminateBlocks][kCount];

inline __device__ __noinline__ std::uint32_t gather_bytes(const std::uint8_t* p) {
  return p[0] | p[1] << 8 | p[2] << 16 | static_cast<std::uint32_t>(p[3]) << 24;
}

/// Four samples, 0 outside the plane. x and the width must be multiples of 4.
__device__ __forceinline__ std::uint32_t plane_word(const std::uint8_t* plane, std::ptrdiff_t pitch, int width,
                                                    int height, int x, int y, bool words) {
  if (static_cast<unsigned>(x) >= static_cast<unsigned>(width) ||
      static_cast<unsigned>(y) >= static_cast<unsigned>(height)) {
    return 0;
  }
  const std::uint8_t* p = plane + y * pitch + x;
  if (words) return *reinterpret_cast<const std::uint32_t*>(p);
  return gather_bytes(p);
}

/// Loads the window's words, one row per warp. A lane loads four samples. It writes the four words that begin at these
/// samples. They also contain samples of the next lane, which it gets from that lane.
__device__ __forceinline__ void load_words(EliminateShared& shared, const EliminateJob& job, int x, int y) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  constexpr int kLoads = (kWordRows + kEliminateWarps - 1) / kEliminateWarps;
  std::uint32_t loaded[kLoads];
  const MotionJob& plane = job.job;
  if (job.words && x >= 0 && y >= 0 && x + 4 * kWarp <= plane.width && y + kLoads * kEliminateWarps <= plane.height) {
    const std::uint8_t* from = plane.reference + (y + warp) * plane.reference_pitch + x + 4 * lane;
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      loaded[load] = *reinterpret_cast<const std::uint32_t*>(from);
      from += kEliminateWarps * plane.reference_pitch;
    }
  } else {
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      loaded[load] = plane_word(plane.reference, plane.reference_pitch, plane.width, plane.height, x + 4 * lane,
                                y + load * kEliminateWarps + warp, job.words);
    }
  }
  auto* to = reinterpret_cast<uint4*>(shared.words) + warp * (kWordColumns / 4) + lane;
#pragma unroll
  for (int load = 0; load < kLoads; ++load) {
    const std::uint32_t low = loaded[load];
    const std::uint32_t high = __shfl_down_sync(0xFFFFFFFFU, low, 1);
    if (lane < kWordColumns / 4 && load * kEliminateWarps + warp < kWordRows) {
      to[load * kEliminateWarps * (kWordColumns / 4)] = {
          low, __funnelshift_r(low, high, 8), __funnelshift_r(low, high, 16), __funnelshift_r(low, high, 24)};
    }
  }
}

__device__ __forceinline__ void load_current_tile(EliminateShared& shared, const EliminateJob& job, int x, int y) {
  constexpr int kWordsARow = 2 * kEliminateColumns;
  constexpr int kWordsABlock = kBlockSamples / 4;
  constexpr int kRowsALoad = kEliminateThreads / kWordsARow;
  static_assert(kRowsALoad % kBlockSize == 0);
  constexpr int kLoads = kBlockSize * kEliminateRows / kRowsALoad;
  constexpr int kStep = kRowsALoad / kBlockSize * kEliminateColumns * kWordsABlock;
  const MotionJob& plane = job.job;
  const int column = static_cast<int>(threadIdx.x) % kWordsARow;
  const int row = static_cast<int>(threadIdx.x) / kWordsARow;
  auto* to = reinterpret_cast<std::uint32_t*>(shared.current) +
             (row / kBlockSize * kEliminateColumns + column / 2) * kWordsABlock + row % kBlockSize * 2 + column % 2;
  if (job.words && x + kBlockSize * kEliminateColumns <= plane.width &&
      y + kBlockSize * kEliminateRows <= plane.height) {
    const std::uint8_t* from = plane.current + (y + row) * plane.current_pitch + x + 4 * column;
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      to[load * kStep] = *reinterpret_cast<const std::uint32_t*>(from);
      from += kRowsALoad * plane.current_pitch;
    }
  } else {
#pragma unroll 1
    for (int load = 0; load < kLoads; ++load) {
      to[load * kStep] = plane_word(plane.current, plane.current_pitch, plane.width, plane.height, x + 4 * column,
                                    y + load * kRowsALoad + row, job.words);
    }
  }
}

/// The sum of one of the four 4x4 squares of a current block. `across` and `down` are 0 or 1 and select the square.
__device__ __forceinline__ std::uint32_t current_sum(const EliminateShared& shared, int block, int across, int down) {
  const auto* words =
      reinterpret_cast<const std::uint32_t*>(shared.current) + block * (kBlockSamples / 4) + 8 * down + across;
  std::uint32_t sum = 0;
#pragma unroll
  for (int row = 0; row < 4; ++row) sum = add_samples(words[2 * row], sum);
  return sum;
}

/// Returns the scale for the tile. It samples only one square of each block. Every warp computes the same scale.
__device__ __forceinline__ SumScale scale_of_tile(const EliminateShared& shared) {
  static_assert(kEliminateBlocks == kWarp);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::uint32_t sum = current_sum(shared, lane, lane & 1, lane >> 3 & 1);
  return scale_for(sum_of_lanes(sum) / kWarp, sum_of_lanes(sum * sum) / kWarp);
}

/// Computes the bytes A of the window, with two warps per group of columns.
__device__ __forceinline__ void sum_window(EliminateShared& shared, const SumScale& scale) {
  constexpr int kParts = 2;
  constexpr int kPartRows = kSumRows / kParts;
  static_assert(kSumRows % kParts == 0 && kSumGroups * kParts <= kEliminateWarps);
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int x = warp % kSumGroups * kWarp + static_cast<int>(threadIdx.x) % kWarp;
  if (warp >= kSumGroups * kParts || x >= kSumColumns) return;
  const int first = warp / kSumGroups * kPartRows * kWordColumns + x;
  sum_column<kPartRows>(shared.words + first, shared.sums + first, scale);
}

/// Computes the bytes A and slacks of the current blocks, with the warps that sum_window() leaves idle.
__device__ __forceinline__ void sum_current(EliminateShared& shared, const SumScale& scale) {
  constexpr int kThreads = 2 * kWarp;
  const int thread = static_cast<int>(threadIdx.x) - (kEliminateThreads - kThreads);
  if (thread < 0) return;
#pragma unroll
  for (int i = thread; i < kEliminateBlocks * 4; i += kThreads) {
    const CurrentSquare square = current_square(current_sum(shared, i / 4, i & 1, i >> 1 & 1), scale);
    shared.current_sums[i] = static_cast<std::uint8_t>(square.byte);
    shared.slacks[i] = static_cast<std::uint8_t>(square.slack);
  }
}

/// The place of a tile.
struct EliminateTile {
  int column;  ///< column of its first block
  int row;
  int rows;    ///< rows of blocks

  __device__ EliminateTile(const EliminateJob& job, int tile) {
    const int tile_row = tile / job.tile_columns;
    column = (tile - tile_row * job.tile_columns) * kEliminateColumns;
    row = tile_row * kEliminateRows;
    rows = min(job.job.height / kBlockSize - row, kEliminateRows);
  }
};

/// Searches a tile in passes of kSquare x kSquare candidates, and puts the kCount smallest keys of each block into
/// `best`. `by` says how: by.begin_pass(dx, dy) is called by all threads before each pass, whose first candidate is the
/// vector (dx, dy); then all threads are synchronized. by.cost(dx, dy) is the Cost of eliminate() in this pass.
/// Allowed candidates are those in the window that by.window(column, row) returns.
template <typename Pairs, int kCount, typename By>
__device__ __forceinline__ void search_tile(EliminateShared& shared, EliminateBest<kCount>& best, const EliminateJob& job,
                                            const EliminateTile& tile, const By& by) {
  const int x = tile.column * kBlockSize;
  const int y = tile.row * kBlockSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int column = tile.column + warp;
  const int columns = job.job.width / kBlockSize;
  for (int i = lane; i < kEliminateRows * kCount; i += kWarp) {  // a warp's own column of the tile
    best[i / kCount * kEliminateColumns + warp][i % kCount] = kNoCandidate;
  }
  // A pass starts at a multiple of 8, so loads of whole words are aligned.
  const int range = job.job.range;
  const int start = -((range + 7) / 8 * 8);
  SumScale scale{};
  bool first = true;
  for (int first_dy = start; first_dy < range || first; first_dy += kSquare) {
    for (int first_dx = start; first_dx < range || first; first_dx += kSquare) {
      if (first) {
        load_current_tile(shared, job, x, y);
      } else {
        __syncthreads();
      }
      by.begin_pass(first_dx, first_dy);
      load_words(shared, job, x + first_dx, y + first_dy);
      __syncthreads();
      if (first) {
        scale = scale_of_tile(shared);
        sum_current(shared, scale);
      }
      first = false;
      sum_window(shared, scale);
      __syncthreads();
      if (column >= columns) continue;
      const auto cost = by.cost(first_dx, first_dy);
#pragma unroll 1
      for (int r = 0; r < tile.rows; ++r) {
        const int row = tile.row + r;
        const int offset = r * kBlockSize * kWordColumns + warp * kBlockSize;
        const int index = r * kEliminateColumns + warp;
        const EliminateBlock<std::uint32_t> block{
            shared.words + offset,
            shared.sums + offset,
            {shared.current + index * (kBlockSize / 2), reinterpret_cast<const std::uint32_t*>(shared.current_sums)[index],
             reinterpret_cast<const std::uint32_t*>(shared.slacks)[index], scale.shift},
            AllowedCandidates::of(by.window(column, row), column * kBlockSize + first_dx, row * kBlockSize + first_dy)};
        KeyList<kCount> list;
        if (lane == 0) {  // the best of the earlier passes
#pragma unroll
          for (int i = 0; i < kCount; ++i) list.keys[i] = best[index][i];
        }
        if (block.allowed.width == Pairs::kSpan && block.allowed.height == Pairs::kSpan) {
          eliminate<Pairs, true>(list, cost, block);
        } else {
          eliminate<Pairs, false>(list, cost, block);
        }
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const std::uint32_t key = list.take_smallest();
          if (lane == 0) best[index][i] = key;
        }
        __syncwarp();
      }
    }
  }
  __syncwarp();
}

/// How search_tile() searches by SAD alone.
struct BySad {
  const MotionJob& job;

  [[nodiscard]] __device__ __forceinline__ SearchWindow window(int column, int row) const {
    return search_window(column, row, job.width, job.height, job.range);
  }
  __device__ __forceinline__ void begin_pass(int, int) const {}
  [[nodiscard]] __device__ __forceinline__ NoCost cost(int first_dx, int first_dy) const {
    return {key_of_vector(first_dx, first_dy)};
  }
};

/// Searches a tile by SAD and writes its results; each warp writes its column of the tile.
__device__ __forceinline__ void eliminate_tile(EliminateShared& shared, EliminateBest<1>& best, const EliminateJob& job,
                                               int number) {
  const EliminateTile tile(job, number);
  search_tile<WidePairs, 1>(shared, best, job, tile, BySad{job.job});
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane >= tile.rows) return;
  store_best(job.job, tile.column + warp, tile.row + lane, best[lane * kEliminateColumns + warp][0]);
}

#endif

}  // namespace c63::cuda
