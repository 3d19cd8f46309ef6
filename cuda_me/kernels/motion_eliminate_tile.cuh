#pragma once

// Successive elimination for every range, plane and architecture. A thread block takes a tile, and each warp a column
// of four blocks. Ranges above 16 take several passes.

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
  std::uint32_t best[kEliminateBlocks];              ///< smallest keys of the earlier passes
};

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
  constexpr int kTurns = (kWordRows + kEliminateWarps - 1) / kEliminateWarps;
  std::uint32_t loaded[kTurns];
  const MotionJob& plane = job.job;
  if (job.words && x >= 0 && y >= 0 && x + 4 * kWarp <= plane.width && y + kTurns * kEliminateWarps <= plane.height) {
    const std::uint8_t* from = plane.reference + (y + warp) * plane.reference_pitch + x + 4 * lane;
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      loaded[turn] = *reinterpret_cast<const std::uint32_t*>(from);
      from += kEliminateWarps * plane.reference_pitch;
    }
  } else {
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      loaded[turn] = plane_word(plane.reference, plane.reference_pitch, plane.width, plane.height, x + 4 * lane,
                                y + turn * kEliminateWarps + warp, job.words);
    }
  }
  auto* to = reinterpret_cast<uint4*>(shared.words) + warp * (kWordColumns / 4) + lane;
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const std::uint32_t low = loaded[turn];
    const std::uint32_t high = __shfl_down_sync(0xFFFFFFFFU, low, 1);
    if (lane < kWordColumns / 4 && turn * kEliminateWarps + warp < kWordRows) {
      to[turn * kEliminateWarps * (kWordColumns / 4)] = {
          low, __funnelshift_r(low, high, 8), __funnelshift_r(low, high, 16), __funnelshift_r(low, high, 24)};
    }
  }
}

__device__ __forceinline__ void load_current_tile(EliminateShared& shared, const EliminateJob& job, int x, int y) {
  constexpr int kWordsARow = 2 * kEliminateColumns;
  constexpr int kWordsABlock = kBlockSamples / 4;
  constexpr int kRowsATurn = kEliminateThreads / kWordsARow;
  static_assert(kRowsATurn % kBlockSize == 0);
  constexpr int kTurns = kBlockSize * kEliminateRows / kRowsATurn;
  constexpr int kStep = kRowsATurn / kBlockSize * kEliminateColumns * kWordsABlock;
  const MotionJob& plane = job.job;
  const int column = static_cast<int>(threadIdx.x) % kWordsARow;
  const int row = static_cast<int>(threadIdx.x) / kWordsARow;
  auto* to = reinterpret_cast<std::uint32_t*>(shared.current) +
             (row / kBlockSize * kEliminateColumns + column / 2) * kWordsABlock + row % kBlockSize * 2 + column % 2;
  if (job.words && x + kBlockSize * kEliminateColumns <= plane.width &&
      y + kBlockSize * kEliminateRows <= plane.height) {
    const std::uint8_t* from = plane.current + (y + row) * plane.current_pitch + x + 4 * column;
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      to[turn * kStep] = *reinterpret_cast<const std::uint32_t*>(from);
      from += kRowsATurn * plane.current_pitch;
    }
  } else {
#pragma unroll 1
    for (int turn = 0; turn < kTurns; ++turn) {
      to[turn * kStep] = plane_word(plane.current, plane.current_pitch, plane.width, plane.height, x + 4 * column,
                                    y + turn * kRowsATurn + row, job.words);
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

/// A block of a tile in one pass. The pass's first candidate is the vector (first_dx, first_dy).
struct EliminateBlock {
  int index;                  ///< in the tile
  const std::uint32_t* words;  ///< points to the word of the first candidate
  const std::uint32_t* sums;
  CurrentBlock current;
  AllowedCandidates allowed;
};

/// Searches a tile in passes of kSquare x kSquare candidates. A pass's first candidate is the vector (dx, dy). In each
/// pass, all threads call `begin_pass(is_first, dx, dy)` and are synchronized. Then each warp calls `search(block, dx,
/// dy)` for the blocks of its column. Allowed candidates are those in the window that `window_of(column, row)` returns.
template <typename Window, typename BeginPass, typename Search>
__device__ __forceinline__ void go_through_tile(EliminateShared& shared, const EliminateJob& job, const EliminateTile& tile,
                                                Window&& window_of, BeginPass&& begin_pass, Search&& search) {
  const int x = tile.column * kBlockSize;
  const int y = tile.row * kBlockSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int column = tile.column + warp;
  const int columns = job.job.width / kBlockSize;
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
      begin_pass(first, first_dx, first_dy);
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
#pragma unroll 1
      for (int r = 0; r < tile.rows; ++r) {
        const int row = tile.row + r;
        const AllowedCandidates allowed = AllowedCandidates::of(
            window_of(column, row), column * kBlockSize + first_dx, row * kBlockSize + first_dy);
        const int offset = r * kBlockSize * kWordColumns + warp * kBlockSize;
        const int block = r * kEliminateColumns + warp;
        const CurrentBlock current{shared.current + block * (kBlockSize / 2),
                                   reinterpret_cast<const std::uint32_t*>(shared.current_sums)[block],
                                   reinterpret_cast<const std::uint32_t*>(shared.slacks)[block], scale.shift};
        search(EliminateBlock{block, shared.words + offset, shared.sums + offset, current, allowed}, first_dx, first_dy);
      }
    }
  }
}

__device__ __forceinline__ void eliminate_tile(EliminateShared& shared, const EliminateJob& job, int number) {
  const EliminateTile tile(job, number);
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int column = tile.column + warp;
  go_through_tile(
      shared, job, tile,
      [&](int at, int row) { return search_window(at, row, job.job.width, job.job.height, job.job.range); },
      [&](bool first, int, int) {
        if (first && threadIdx.x < kEliminateBlocks) shared.best[threadIdx.x] = kNoCandidate;
      },
      [&](const EliminateBlock& block, int first_dx, int first_dy) {
        const std::uint32_t before = shared.best[block.index];
        const std::uint32_t key =
            block.allowed.all() ? eliminate<true>(block.words, block.sums, block.current, block.allowed, before >> 16)
                                : eliminate<false>(block.words, block.sums, block.current, block.allowed, before >> 16);
        if (key == kNoCandidate) return;
        const auto place = static_cast<int>(key & 0xFFFFU);
        const int dy = place / kWordColumns;
        const int dx = place % kWordColumns;
        const std::uint32_t best =
            key >> 16 << 16 | static_cast<std::uint32_t>((first_dy + dy + 128) << 8 | (first_dx + dx + 128));
        __syncwarp();
        if (lane == 0) shared.best[block.index] = min(before, best);
      });
  if (column >= job.job.width / kBlockSize) return;
  __syncwarp();
  if (lane >= tile.rows) return;
  const int row = tile.row + lane;
  // Keys sad << 16 | (dy + 128) << 8 | (dx + 128) have the same order as those of candidate_key().
  const std::uint32_t key = shared.best[lane * kEliminateColumns + warp];
  if (key == kNoCandidate) {
    store_motion(job.job, column, row, 0, 0, sad_in_place(job.job, column * kBlockSize, row * kBlockSize));
  } else {
    store_motion(job.job, column, row, static_cast<int>(key & 0xFFU) - 128, static_cast<int>(key >> 8 & 0xFFU) - 128,
                 key >> 16);
  }
}

#endif

}  // namespace c63::cuda
