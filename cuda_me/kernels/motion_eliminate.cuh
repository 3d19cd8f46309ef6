#pragma once

// Exact elimination: most candidates are ruled out by a bound that costs one VABSDIFF4, the rest are compared in full.
//
// S is the sum of a 4x4 square of samples, and A = clamp(floor((S - 8 b) / 8), 0, 255) a byte of it, with one b for all
// the squares that are compared. Then 8 |A1 - A2| <= |S1 - S2| + 7: the floor adds at most 7/8, and a clamp moves no
// two numbers apart. An 8x8 block is four such squares, and the differences of their sums are at most its SAD; so
//
//   SAD >= 8 V - 28,  V = the sum of the four |A1 - A2|.
//
// A candidate with 8 V - 28 above the SAD of some allowed candidate is neither the minimum nor equal to it; all others
// are compared, so the first minimum in raster order is among them, and the smallest key is it. Which b is taken
// decides only how many are left: S / 8 goes to 510, and b puts the mean of the current samples in the middle of the
// byte.
//
// A block of threads takes 8x4 macroblocks, a warp a column of four. Shared memory holds, for each sample of the
// window, the word of the four samples from there on and the word of the four bytes A of the block that starts there. A
// lane owns 16 pairs of candidates one below the other: pair p has the columns (lane + 8 p) % 32 and the rows 2 p and 2
// p + 1. Two rows of the window are 2 * 92 words = -8 modulo 32 banks apart, so whatever pairs the lanes look at, they
// never meet in a bank. Consecutive pairs lie apart, so that what is left of a patch of good candidates is spread over
// the lanes.

#include "cuda_me/kernels/motion_common.cuh"

namespace c63::cuda {

inline constexpr int kEliminateColumns = 8;  ///< macroblocks of a block of threads
inline constexpr int kEliminateRows = 4;
inline constexpr int kEliminateWarps = 8;  ///< each has macroblocks below each other
inline constexpr int kEliminateRowsAWarp = kEliminateRows * kEliminateColumns / kEliminateWarps;
inline constexpr int kEliminateThreads = kEliminateWarps * kWarp;
inline constexpr int kEliminateResident = 3;  ///< blocks of threads that a multiprocessor is to hold
inline constexpr int kSquare = 32;            ///< candidates a pass looks at, in x and in y
inline constexpr int kPairs = kSquare / 2;    ///< of candidates below each other that a lane owns

/// The window of a pass, in samples.
inline constexpr int kWordColumns = kBlockSize * kEliminateColumns + kSquare - 4;
inline constexpr int kWordRows = kBlockSize * kEliminateRows + kSquare - 1;
inline constexpr int kSumColumns = kBlockSize * (kEliminateColumns - 1) + kSquare;
inline constexpr int kSumRows = kBlockSize * (kEliminateRows - 1) + kSquare;
static_assert(kWordColumns % 4 == 0 && 2 * kWordColumns % kWarp == kWarp - 8);

struct EliminateJob {
  MotionJob job;
  int tile_columns = 0;
  int first_tile = 0;  ///< of this job in the grid
  bool words = false;  ///< both planes can be read four samples at a time
};

struct EliminateBatch {
  std::array<EliminateJob, kBatchJobs> jobs;
  int count;
};

#if defined(__CUDACC__)

struct alignas(16) EliminateShared {
  std::uint32_t words[kWordRows * kWordColumns];                   ///< the samples x..x+3
  std::uint32_t sums[kSumRows * kWordColumns];                     ///< A of (x, y), (x+4, y), (x, y+4), (x+4, y+4)
  uint2 current[kBlockSize * kEliminateRows * kEliminateColumns];  ///< a row of a macroblock each
  std::uint8_t current_sums[kEliminateRows * kEliminateColumns * 4];
  std::uint32_t best[kEliminateRows * kEliminateColumns];  ///< smallest keys of the passes before
};

__device__ __noinline__ std::uint32_t gather_bytes(const std::uint8_t* p) {
  return p[0] | p[1] << 8 | p[2] << 16 | static_cast<std::uint32_t>(p[3]) << 24;
}

/// Four samples, 0 outside the plane; x is a multiple of 4, and so is the width.
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

/// A warp a row: a lane reads four samples, the next lane has the four after them.
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
  constexpr int kRowsATurn = kEliminateThreads / kWordsARow;
  const MotionJob& plane = job.job;
  const int column = static_cast<int>(threadIdx.x) % kWordsARow;
  const int row = static_cast<int>(threadIdx.x) / kWordsARow;
  auto* to = reinterpret_cast<std::uint32_t*>(shared.current) + threadIdx.x;
  if (job.words && x + kBlockSize * kEliminateColumns <= plane.width &&
      y + kBlockSize * kEliminateRows <= plane.height) {
    const std::uint8_t* from = plane.current + (y + row) * plane.current_pitch + x + 4 * column;
#pragma unroll
    for (int turn = 0; turn < kBlockSize * kEliminateRows / kRowsATurn; ++turn) {
      to[turn * kEliminateThreads] = *reinterpret_cast<const std::uint32_t*>(from);
      from += kRowsATurn * plane.current_pitch;
    }
  } else {
#pragma unroll 1
    for (int turn = 0; turn < kBlockSize * kEliminateRows / kRowsATurn; ++turn) {
      to[turn * kEliminateThreads] = plane_word(plane.current, plane.current_pitch, plane.width, plane.height,
                                                x + 4 * column, y + turn * kRowsATurn + row, job.words);
    }
  }
}

/// Sum of the warp's values; all lanes take part.
__device__ __forceinline__ std::uint32_t warp_sum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFFU, value);
#else
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFFU, value, step);
  return value;
#endif
}

/// 8 b for two sums in one word, from a few words of each row of the current samples; every warp finds the same.
__device__ __forceinline__ std::uint32_t middle_of(const EliminateShared& shared) {
  constexpr int kWordsARow = 2 * kEliminateColumns;
  static_assert(kBlockSize * kEliminateRows == kWarp);
  const auto* words = reinterpret_cast<const std::uint32_t*>(shared.current);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::uint32_t sum = warp_sum(__dp4a(words[lane * kWordsARow + lane * 5 % kWordsARow], 0x01010101U, 0U));
  return static_cast<std::uint32_t>(max(static_cast<int>(sum / (kWarp * 4)) * 2 - 128, 0) * 8) * 0x10001U;
}

/// Two sums to two bytes, in bytes 0 and 2; what is in the others means nothing.
__device__ __forceinline__ std::uint32_t to_bytes(std::uint32_t sums, std::uint32_t middle) {
  return __vminu2(__vmaxu2(sums, middle) - middle, 2047U * 0x10001U) >> 3;
}

/// Sums of a column of the window, top to bottom, sliding.
__device__ __forceinline__ void sum_window(EliminateShared& shared, std::uint32_t middle) {
  constexpr int kGroups = (kSumColumns + kWarp - 1) / kWarp;
  constexpr int kParts = 2;
  constexpr int kPartRows = kSumRows / kParts;
  static_assert(kSumRows % kParts == 0 && kGroups * kParts <= kEliminateWarps);
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int x = warp % kGroups * kWarp + static_cast<int>(threadIdx.x) % kWarp;
  if (warp >= kGroups * kParts || x >= kSumColumns) return;
  const int first = warp / kGroups * kPartRows;
  const std::uint32_t* words = shared.words + first * kWordColumns + x;
  std::uint32_t* sums = shared.sums + first * kWordColumns + x;
  const auto across = [&](int row) {  // a row of both squares
    return (__dp4a(words[row * kWordColumns + 4], 0x01010101U, 0U) << 16) +
           __dp4a(words[row * kWordColumns], 0x01010101U, 0U);
  };
  std::uint32_t rows[4] = {across(0), across(1), across(2), 0};
  std::uint32_t sum = rows[0] + rows[1] + rows[2];
  std::uint32_t above[4];
#pragma unroll
  for (int y = 0; y < kPartRows + 4; ++y) {
    rows[(y + 3) & 3] = across(y + 3);
    sum += rows[(y + 3) & 3];
    const std::uint32_t below = to_bytes(sum, middle);
    sum -= rows[y & 3];
    if (y >= 4) sums[(y - 4) * kWordColumns] = __byte_perm(above[y & 3], below, 0x6420);
    above[y & 3] = below;
  }
}

/// The same of the current macroblocks, a square a thread.
__device__ __forceinline__ void sum_current(EliminateShared& shared, std::uint32_t middle) {
  const int thread = static_cast<int>(threadIdx.x);
  constexpr int kSquares = kEliminateRows * kEliminateColumns * 4;
  const int i = kEliminateThreads - 1 - thread;  // by the warps that sum_window() leaves idle
  if (i >= kSquares) return;
  const int across = i & 1;
  const int down = i >> 1 & 1;
  const int block = i >> 2;
  const auto* words = reinterpret_cast<const std::uint32_t*>(shared.current) +
                      (block / kEliminateColumns * kBlockSize + 4 * down) * 2 * kEliminateColumns +
                      block % kEliminateColumns * 2 + across;
  std::uint32_t sum = 0;
#pragma unroll
  for (int row = 0; row < 4; ++row) sum = __dp4a(words[row * 2 * kEliminateColumns], 0x01010101U, sum);
  shared.current_sums[i] = static_cast<std::uint8_t>(to_bytes(sum, middle));
}

/// Where a macroblock's candidates of a pass start, and which of them count.
struct Candidates {
  int low_x;
  int low_y;
  SearchWindow window;
  [[nodiscard]] __device__ bool all() const {
    return window.left <= low_x && low_x + kSquare <= window.right && window.top <= low_y &&
           low_y + kSquare <= window.bottom;
  }
  [[nodiscard]] __device__ bool has(int dx, int dy) const {
    return low_x + dx >= window.left && low_x + dx < window.right && low_y + dy >= window.top &&
           low_y + dy < window.bottom;
  }
};

[[nodiscard]] __device__ __forceinline__ int pair_column(int pair) {
  return (static_cast<int>(threadIdx.x) + 8 * pair) % kSquare;
}

/// Smaller key of a pair: sad << 16 | where the candidate lies in the window, which orders as candidate_key() does.
template <bool kAll>
__device__ __forceinline__ std::uint32_t compare_pair(const std::uint32_t* words, const uint2 (&current)[kBlockSize],
                                                      const Candidates& candidates, int pair) {
  const int dx = pair_column(pair);
  const int place = 2 * pair * kWordColumns + dx;
  const std::uint32_t* from = words + place;
  std::uint32_t upper = 0;
  std::uint32_t lower = 0;
#pragma unroll
  for (int row = 0; row <= kBlockSize; ++row) {
    const std::uint32_t left = from[row * kWordColumns];
    const std::uint32_t right = from[row * kWordColumns + 4];
    if (row < kBlockSize) {
      upper = absdiff4_add(left, current[row].x, upper);
      upper = absdiff4_add(right, current[row].y, upper);
    }
    if (row > 0) {
      lower = absdiff4_add(left, current[row - 1].x, lower);
      lower = absdiff4_add(right, current[row - 1].y, lower);
    }
  }
  std::uint32_t upper_key = upper * 65536 + static_cast<std::uint32_t>(place);
  std::uint32_t lower_key = lower * 65536 + static_cast<std::uint32_t>(place + kWordColumns);
  if constexpr (!kAll) {
    if (!candidates.has(dx, 2 * pair)) upper_key = kNoCandidate;
    if (!candidates.has(dx, 2 * pair + 1)) lower_key = kNoCandidate;
  }
  return min(upper_key, lower_key);
}

/// Smallest key of a macroblock's candidates of a pass; those above the SAD `limit_sad` may be left out. `sums` and
/// `words` are those of its first candidate.
template <bool kAll>
__device__ __forceinline__ std::uint32_t eliminate(const std::uint32_t* words, const std::uint32_t* sums,
                                                   const uint2* current_rows, std::uint32_t current_sums,
                                                   const Candidates& candidates, std::uint32_t known_sad, int hint) {
  constexpr int kHalf = kPairs / 2;
  // Smaller bound of each pair p, and of pair p + 8 above it.
  std::uint32_t bounds[kHalf];
  std::uint32_t smallest = 0xFFFFFFFFU;
#pragma unroll
  for (int p = 0; p < kHalf; ++p) {
    const std::uint32_t* from = sums + pair_column(p) + 2 * p * kWordColumns;
    constexpr int kBelow = kPairs * kWordColumns;
    const std::uint32_t upper =
        (absdiff4_add(from[kBelow], current_sums, 0) << 16) + absdiff4_add(from[0], current_sums, 0);
    const std::uint32_t lower = (absdiff4_add(from[kBelow + kWordColumns], current_sums, 0) << 16) +
                                absdiff4_add(from[kWordColumns], current_sums, 0);
    bounds[p] = __vminu2(upper, lower);
    smallest = __vminu2(smallest, bounds[p] * 64 + static_cast<std::uint32_t>((p + kHalf) << 16 | p));
  }
  uint2 current[kBlockSize];
#pragma unroll
  for (int row = 0; row < kBlockSize; ++row) current[row] = current_rows[row * kEliminateColumns];

  // Each lane compares its most promising pair, and one of them what the macroblock above found.
  int pair = static_cast<int>(min(smallest & 0xFFFFU, smallest >> 16) & 15U);
  const int hint_pair = hint >> 9 & 15;
  if (pair_column(hint_pair) == (hint & 31)) pair = hint_pair;
  std::uint32_t best = warp_min(compare_pair<kAll>(words, current, candidates, pair));

  const std::uint32_t limit = (min(best >> 16, known_sad) + 28) >> 3;
  const std::uint32_t limits = limit * 0x10001U | 0x80008000U;
  std::uint32_t left = 0;
#pragma unroll
  for (int p = 0; p < kHalf; ++p) left = left >> 1 | ((limits - bounds[p]) & 0x80008000U);
  left = __byte_perm(left, 0, 0x4431) & ~(1U << pair);  // a bit a pair
  if constexpr (!kAll) {
#pragma unroll 1
    for (int p = 0; p < kPairs; ++p) {
      const int dx = pair_column(p);
      if (!candidates.has(dx, 2 * p) && !candidates.has(dx, 2 * p + 1)) left &= ~(1U << p);
    }
  }
  while (left != 0) {
    const int next = 31 - __clz(static_cast<int>(left));
    left ^= 1U << next;
    best = min(best, compare_pair<kAll>(words, current, candidates, next));
  }
  __syncwarp();
  return warp_min(best);
}

__device__ __forceinline__ void eliminate_tile(EliminateShared& shared, const EliminateJob& job, int tile) {
  const int tile_row = tile / job.tile_columns;
  const int tile_column = tile - tile_row * job.tile_columns;
  const int x = tile_column * kEliminateColumns * kBlockSize;
  const int y = tile_row * kEliminateRows * kBlockSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int tile_x = warp % kEliminateColumns;
  const int column = tile_column * kEliminateColumns + tile_x;
  const int columns = job.job.width / kBlockSize;
  const int first_row = warp / kEliminateColumns * kEliminateRowsAWarp;
  const int last_row = min(job.job.height / kBlockSize - tile_row * kEliminateRows, first_row + kEliminateRowsAWarp);
  // Squares of candidates start at multiples of 8, as words do.
  const int range = job.job.range;
  const int start = -((range + 7) / 8 * 8);
  std::uint32_t middle = 0;
  bool first = true;
  for (int first_dy = start; first_dy < range || first; first_dy += kSquare) {
    for (int first_dx = start; first_dx < range || first; first_dx += kSquare) {
      if (first) {
        load_current_tile(shared, job, x, y);
        if (threadIdx.x < kEliminateRows * kEliminateColumns) shared.best[threadIdx.x] = kNoCandidate;
      } else {
        __syncthreads();
      }
      load_words(shared, job, x + first_dx, y + first_dy);
      __syncthreads();
      if (first) {
        middle = middle_of(shared);
        sum_current(shared, middle);
      }
      first = false;
      sum_window(shared, middle);
      __syncthreads();
      if (column >= columns) continue;
      int hint = -first_dy << 8 | (-first_dx & 31);
#pragma unroll 1
      for (int r = first_row; r < last_row; ++r) {
        const int row = tile_row * kEliminateRows + r;
        const Candidates candidates{column * kBlockSize + first_dx, row * kBlockSize + first_dy,
                                    search_window(column, row, job.job.width, job.job.height, range)};
        const int offset = r * kBlockSize * kWordColumns + tile_x * kBlockSize;
        const int block = r * kEliminateColumns + tile_x;
        const uint2* current = shared.current + r * kBlockSize * kEliminateColumns + tile_x;
        const std::uint32_t current_sums = reinterpret_cast<const std::uint32_t*>(shared.current_sums)[block];
        const std::uint32_t before = shared.best[block];
        const std::uint32_t key = candidates.all()
                                      ? eliminate<true>(shared.words + offset, shared.sums + offset, current,
                                                        current_sums, candidates, before >> 16, hint)
                                      : eliminate<false>(shared.words + offset, shared.sums + offset, current,
                                                         current_sums, candidates, before >> 16, hint);
        if (key == kNoCandidate) continue;
        const auto place = static_cast<int>(key & 0xFFFFU);
        const int dy = place / kWordColumns;
        const int dx = place % kWordColumns;
        hint = dy << 8 | dx;
        const std::uint32_t best =
            key >> 16 << 16 | static_cast<std::uint32_t>((first_dy + dy + 128) << 8 | (first_dx + dx + 128));
        __syncwarp();
        if (lane == 0) shared.best[block] = min(before, best);
      }
    }
  }
  if (column >= columns) return;
  __syncwarp();
  if (first_row + lane >= last_row) return;
  const int row = tile_row * kEliminateRows + first_row + lane;
  // sad << 16 | (dy + 128) << 8 | (dx + 128) orders as candidate_key() does.
  const std::uint32_t key = shared.best[(first_row + lane) * kEliminateColumns + tile_x];
  if (key == kNoCandidate) {
    store_motion(job.job, column, row, 0, 0, sad_in_place(job.job, column * kBlockSize, row * kBlockSize));
  } else {
    store_motion(job.job, column, row, static_cast<int>(key & 0xFFU) - 128, static_cast<int>(key >> 8 & 0xFFU) - 128,
                 key >> 16);
  }
}

#endif

}  // namespace c63::cuda
