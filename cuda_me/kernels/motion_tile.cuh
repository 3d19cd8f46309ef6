#pragma once

// The register-tile search. A warp takes a pair of horizontally adjacent blocks. For each of the two blocks, a lane has
// a tile of kColumns x 4 candidates. These have every fourth dx, so the lane reads all of them from one byte-shifted
// copy of the window, without shifting. They have four consecutive dy, so a loaded row serves four candidates. The two
// blocks are 8 bytes apart, so the same three 16-byte loads per row serve both.
//   lane = row group * 4 + byte shift;  dx = first + shift + 4 k, k < kColumns;  dy = first + 4 * group + j, j < 4
//
// kColumns 8: 32x32 candidates, all lanes for one pair. kColumns 4: 16x16 candidates (chroma), half a warp per pair.
// Larger ranges take several passes, each over a square of this size.
//
// Shared memory holds four copies of the window; copy s is shifted s bytes left. Rows are 48 bytes apart, and a copy is
// an odd number of 16-byte units. A 16-byte load is done for eight lanes at a time: two groups of rows and four copies.
// They touch banks at 16 * (odd * s + 12 * group) mod 128, which are all different.

#include <span>

#include "cuda_me/kernels/motion_common.cuh"

namespace c63::cuda {

inline constexpr int kTileWarps = 4;
inline constexpr int kTileThreads = kTileWarps * kWarp;
inline constexpr int kTileResident = 6;  ///< thread blocks per multiprocessor
inline constexpr int kTileShifts = 4;
inline constexpr int kTileDy = 4;      ///< candidates below each other that a lane has
inline constexpr int kSweepDy = 2;     ///< candidates of these that are compared at a time; few, to save registers
inline constexpr int kTilePitch = 48;  ///< bytes of a window row
inline constexpr int kTilePair = 2 * kBlockSize;

/// The sizes of tiles and windows if a lane has kColumns columns of candidates.
template <int kColumns>
struct TileShape {
  static constexpr int kSpan = kTileShifts * kColumns;           ///< candidates of a pass in x, and in y
  static constexpr int kGroups = kSpan / kTileDy;                ///< groups of lanes, one below the other
  static constexpr int kLanes = kTileShifts * kGroups;           ///< lanes per pair
  static constexpr int kPairs = kTileThreads / kLanes;           ///< pairs, one below the other, per thread block
  static constexpr int kRows = kBlockSize * kPairs + kSpan - 1;  ///< window rows
  static constexpr int kCopyBytes = kRows * kTilePitch;
  static_assert(kCopyBytes / 16 % 2 == 1);
};

struct TileJob {
  MotionJob job;
  int pairs = 0;                 ///< pairs of blocks in a row
  std::uint32_t reciprocal = 0;  ///< 2^32 / pairs, rounded up
  std::uint32_t first_tile = 0;  ///< index in the grid of this job's first tile
  bool short_range = false;      ///< kColumns is 4
  int granule = 0;               ///< bytes of the loads of window rows: 16, 8 or 4; 0: byte by byte
};

struct TileBatch {
  std::array<TileJob, kBatchJobs> jobs;
  int count;
};

#if defined(__CUDACC__)

struct alignas(128) TileShared {
  std::uint8_t copies[kTileShifts * TileShape<4>::kCopyBytes];
  uint4 current[TileShape<4>::kPairs * kBlockSize];  ///< each is one row of a pair of blocks
};
static_assert(TileShape<4>::kCopyBytes >= TileShape<8>::kCopyBytes);

/// Four samples from any address, 0 outside the plane.
__device__ inline std::uint32_t gather_word(const MotionJob& job, int x, int y) {
  std::uint32_t word = 0;
  if (y < 0 || y >= job.height) return 0;
  for (int i = 0; i < 4; ++i) {
    if (x + i < 0 || x + i >= job.width) continue;
    word |= static_cast<std::uint32_t>(job.reference[y * job.reference_pitch + x + i]) << 8 * i;
  }
  return word;
}

/// Loads the sixteen samples from (x, y) on and the four after them, 0 outside the plane. It loads kGranule bytes at a
/// time (granule_of()), a size for which no load crosses the plane's edge.
template <int kGranule>
__device__ __forceinline__ void load_chunk(std::uint32_t (&words)[5], const MotionJob& job, int x, int y) {
  const std::uint8_t* p = job.reference + y * job.reference_pitch + x;
  const bool in_rows = static_cast<unsigned>(y) < static_cast<unsigned>(job.height);
  const auto inside = [&](int offset) {
    return in_rows && static_cast<unsigned>(x + offset) < static_cast<unsigned>(job.width);
  };
  if constexpr (kGranule == 16) {
    const uint4 chunk = inside(0) ? *reinterpret_cast<const uint4*>(p) : uint4{};
    words[0] = chunk.x;
    words[1] = chunk.y;
    words[2] = chunk.z;
    words[3] = chunk.w;
    words[4] = inside(16) ? *reinterpret_cast<const std::uint32_t*>(p + 16) : 0;
  } else if constexpr (kGranule == 8) {
    const uint2 low = inside(0) ? *reinterpret_cast<const uint2*>(p) : uint2{};
    const uint2 high = inside(8) ? *reinterpret_cast<const uint2*>(p + 8) : uint2{};
    words[0] = low.x;
    words[1] = low.y;
    words[2] = high.x;
    words[3] = high.y;
    words[4] = inside(16) ? *reinterpret_cast<const std::uint32_t*>(p + 16) : 0;
  } else if constexpr (kGranule == 4) {
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      words[i] = inside(4 * i) ? *reinterpret_cast<const std::uint32_t*>(p + 4 * i) : 0;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = gather_word(job, x + 4 * i, y);
  }
}

/// Fills the four byte-shifted copies of the window whose first sample is (x, y).
template <typename Shape, int kGranule>
__device__ __forceinline__ void load_tile_window(TileShared& shared, const MotionJob& job, int x, int y) {
  constexpr int kRowChunks = kTilePitch / 16;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < Shape::kRows * kRowChunks; i += kTileThreads) {
    const int row = static_cast<int>(static_cast<unsigned>(i) / kRowChunks);
    std::uint32_t words[5];
    load_chunk<kGranule>(words, job, x + 16 * (i - kRowChunks * row), y + row);
    auto* to = reinterpret_cast<uint4*>(shared.copies) + i;
#pragma unroll
    for (unsigned s = 0; s < kTileShifts; ++s) {
      to[s * (Shape::kCopyBytes / 16)] = {
          __funnelshift_r(words[0], words[1], 8 * s), __funnelshift_r(words[1], words[2], 8 * s),
          __funnelshift_r(words[2], words[3], 8 * s), __funnelshift_r(words[3], words[4], 8 * s)};
    }
  }
}

/// Loads the current blocks of the tile, one word per thread at a time.
template <typename Shape>
__device__ inline void load_tile_current(TileShared& shared, const MotionJob& job, int x, int y) {
  const bool aligned = (reinterpret_cast<std::uintptr_t>(job.current) | job.current_pitch) % 4 == 0;
  auto* to = reinterpret_cast<std::uint32_t*>(shared.current);
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < Shape::kPairs * kBlockSize * 4; i += kTileThreads) {
    const int sample_x = x + i % 4 * 4;
    const int sample_y = y + i / 4;
    std::uint32_t word = 0;
    if (sample_x < job.width && sample_y < job.height) {
      const std::uint8_t* p = job.current + sample_y * job.current_pitch + sample_x;
      word = aligned ? *reinterpret_cast<const std::uint32_t*>(p)
                     : p[0] | p[1] << 8 | p[2] << 16 | static_cast<std::uint32_t>(p[3]) << 24;
    }
    to[i] = word;
  }
}

/// Returns the smallest key of a lane's candidates. The key of the candidate in row j and column k is sad << 10 | (dy +
/// j) << 5 | (shift + 4 k).
template <int kColumns>
__device__ __forceinline__ std::uint32_t smallest_tile_key(const std::uint32_t (&sums)[kSweepDy][kColumns],
                                                           std::uint32_t lane_index) {
  std::uint32_t best = kNoCandidate;
#pragma unroll
  for (int j = 0; j < kSweepDy; ++j) {
#pragma unroll
    for (int k = 0; k < kColumns; ++k) best = min(best, (sums[j][k] << 10) + static_cast<unsigned>(j * 32 + 4 * k));
  }
  return best + lane_index;
}
/// The same for the candidates that are allowed: those whose bits are set in `columns` and `rows`.
template <int kColumns>
__device__ __forceinline__ std::uint32_t smallest_tile_key(const std::uint32_t (&sums)[kSweepDy][kColumns],
                                                           std::uint32_t lane_index, std::uint32_t columns,
                                                           std::uint32_t rows) {
  std::uint32_t best = 0x7FFFFFFFU;
#pragma unroll
  for (int j = 0; j < kSweepDy; ++j) {
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      const bool allowed = (columns >> k & rows >> j & 1U) != 0;
      best = min(best, allowed ? (sums[j][k] << 10) + static_cast<unsigned>(j * 32 + 4 * k) : 0x7FFFFFFFU);
    }
  }
  return best + lane_index;
}

/// Returns a mask: bit b < count is set if first + b * step lies in [low, high).
__device__ __forceinline__ std::uint32_t allowed_bits(int first, int step, int count, int low, int high) {
  std::uint32_t bits = 0;
#pragma unroll
  for (int b = 0; b < count; ++b) {
    const int position = first + b * step;
    if (position >= low && position < high) bits |= 1U << b;
  }
  return bits;
}

/// Computes the SADs of a lane's candidates for both blocks of its pair, in kSweep consecutive rows of candidates. The
/// first candidate is kLead bytes after `window`. The rows of the window are kPitch bytes apart. The rows of the pair
/// of blocks are kCurrentPitch bytes apart.
template <int kColumns, int kSweep, int kLead, int kPitch, int kCurrentPitch>
__device__ __forceinline__ void tile_sums(const std::uint8_t* window, const std::uint8_t* current,
                                          std::uint32_t (&left)[kSweep][kColumns],
                                          std::uint32_t (&right)[kSweep][kColumns]) {
  constexpr int kFirst = kLead / 4;
  constexpr int kChunks = (kFirst + kColumns + 3 + 3) / 4;
  uint4 rows[kBlockSize];
#pragma unroll
  for (int r = 0; r < kBlockSize + kSweep - 1; ++r) {
    if (r < kBlockSize) rows[r] = *reinterpret_cast<const uint4*>(current + r * kCurrentPitch);
    std::uint32_t words[kChunks * 4];
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const uint4 chunk = *reinterpret_cast<const uint4*>(window + r * kPitch + c * 16);
      words[4 * c] = chunk.x;
      words[4 * c + 1] = chunk.y;
      words[4 * c + 2] = chunk.z;
      words[4 * c + 3] = chunk.w;
    }
#pragma unroll
    for (int j = 0; j < kSweep; ++j) {
      const int i = r - j;
      if (i < 0 || i >= kBlockSize) continue;
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        left[j][k] = absdiff4_add(words[kFirst + k], rows[i].x, i == 0 ? 0 : left[j][k]);
        right[j][k] = absdiff4_add(words[kFirst + k + 2], rows[i].z, i == 0 ? 0 : right[j][k]);
      }
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        left[j][k] = absdiff4_add(words[kFirst + k + 1], rows[i].y, left[j][k]);
        right[j][k] = absdiff4_add(words[kFirst + k + 3], rows[i].w, right[j][k]);
      }
    }
  }
}

/// Returns the key of a candidate for comparison with those of other passes (key_of_vector()).
__device__ __forceinline__ std::uint32_t widen_key(std::uint32_t key, int first_dx, int first_dy) {
  if (key >= 1U << 24) return kNoCandidate;
  return (key >> 10) << 16 |
         key_of_vector(first_dx + static_cast<int>(key & 31), first_dy + static_cast<int>(key >> 5 & 31));
}

template <int kColumns>
__device__ __forceinline__ void search_tile(TileShared& shared, const TileJob& tile_job, std::uint32_t tile) {
  using Shape = TileShape<kColumns>;
  const MotionJob& job = tile_job.job;
  // Divides by multiplying with the reciprocal. The quotient may be one too high, so it is corrected below. The
  // reciprocal of 1 does not fit in 32 bits, so that case is separate.
  std::uint32_t tile_row = tile_job.pairs == 1 ? tile : __umulhi(tile, tile_job.reciprocal);
  int pair = static_cast<int>(tile - tile_row * static_cast<std::uint32_t>(tile_job.pairs));
  if (pair < 0) {
    --tile_row;
    pair += tile_job.pairs;
  }
  const int x = pair * kTilePair;
  const int y = static_cast<int>(tile_row) * Shape::kPairs * kBlockSize;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % Shape::kLanes;
  const int pair_row = thread / Shape::kLanes;
  const int shift = lane % kTileShifts;
  const int group = lane / kTileShifts;
  const std::uint8_t* window = shared.copies + shift * Shape::kCopyBytes + pair_row * kBlockSize * kTilePitch;
  const auto* current = reinterpret_cast<const std::uint8_t*>(shared.current + pair_row * kBlockSize);
  const int row = static_cast<int>(tile_row) * Shape::kPairs + pair_row;
  std::uint32_t best[2] = {kNoCandidate, kNoCandidate};
  bool first = true;
  for (int first_dy = -job.range; first_dy < job.range; first_dy += Shape::kSpan) {
    for (int first_dx = -job.range; first_dx < job.range; first_dx += Shape::kSpan) {
      const int low_x = x + first_dx;
      if (first) {
        load_tile_current<Shape>(shared, job, x, y);
      } else {
        __syncthreads();
      }
      first = false;
      if (tile_job.granule == 16) {
        load_tile_window<Shape, 16>(shared, job, low_x, y + first_dy);
      } else if (tile_job.granule == 8) {
        load_tile_window<Shape, 8>(shared, job, low_x, y + first_dy);
      } else if (tile_job.granule == 4) {
        load_tile_window<Shape, 4>(shared, job, low_x, y + first_dy);
      } else {
        load_tile_window<Shape, 1>(shared, job, low_x, y + first_dy);
      }
      __syncthreads();
      // If all candidates of this pass are allowed for both blocks, single candidates need no check.
      const int low_y = row * kBlockSize + first_dy;
      const bool inside =
          __all_sync(0xFFFFFFFFU, first_dx + Shape::kSpan <= job.range && first_dy + Shape::kSpan <= job.range &&
                                      low_x >= 0 && low_x + Shape::kSpan + 2 * kBlockSize <= job.width && low_y >= 0 &&
                                      low_y + Shape::kSpan + kBlockSize <= job.height);
      std::uint32_t keys[2] = {kNoCandidate, kNoCandidate};
#pragma unroll 1
      for (int dy = group * kTileDy; dy < (group + 1) * kTileDy; dy += kSweepDy) {
        std::uint32_t left[kSweepDy][kColumns];
        std::uint32_t right[kSweepDy][kColumns];
        tile_sums<kColumns, kSweepDy, 0, kTilePitch, kTilePair>(window + dy * kTilePitch, current, left, right);
        const std::uint32_t index = static_cast<std::uint32_t>(dy * 32 + shift);
        if (inside) {
          keys[0] = min(keys[0], smallest_tile_key(left, index));
          keys[1] = min(keys[1], smallest_tile_key(right, index));
        } else {
          const SearchWindow bounds[2] = {search_window(2 * pair, row, job.width, job.height, job.range),
                                          search_window(2 * pair + 1, row, job.width, job.height, job.range)};
          const std::uint32_t rows = allowed_bits(low_y + dy, 1, kSweepDy, bounds[0].top, bounds[0].bottom);
          const std::uint32_t left_columns =
              allowed_bits(low_x + shift, kTileShifts, kColumns, bounds[0].left, bounds[0].right);
          const std::uint32_t right_columns =
              allowed_bits(low_x + kBlockSize + shift, kTileShifts, kColumns, bounds[1].left, bounds[1].right);
          keys[0] = min(keys[0], smallest_tile_key(left, index, left_columns, rows));
          keys[1] = min(keys[1], smallest_tile_key(right, index, right_columns, rows));
        }
      }
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        std::uint32_t key;
        if constexpr (Shape::kLanes == kWarp) {
          key = warp_min(keys[b]);
        } else {  // two pairs in a warp
          const bool upper = thread % kWarp < Shape::kLanes;
          const std::uint32_t first_pair = warp_min(upper ? keys[b] : kNoCandidate);
          const std::uint32_t second_pair = warp_min(upper ? kNoCandidate : keys[b]);
          key = upper ? first_pair : second_pair;
        }
        best[b] = min(best[b], widen_key(key, first_dx, first_dy));
      }
    }
  }
  if (lane >= 2) return;
  store_best(job, 2 * pair + lane, row, lane == 0 ? best[0] : best[1]);
}

__device__ __forceinline__ void search_tiles(const TileBatch& batch) {
  __shared__ TileShared shared;
  int which = 0;
  while (which + 1 < batch.count && blockIdx.x >= batch.jobs[which + 1].first_tile) ++which;
  const TileJob& job = batch.jobs[which];
  if (job.short_range) {
    search_tile<4>(shared, job, blockIdx.x - job.first_tile);
  } else {
    search_tile<8>(shared, job, blockIdx.x - job.first_tile);
  }
}

#endif

/// The widest loads, in bytes, that are always aligned and never cross the plane's edge; 0: only single bytes. They
/// depend on the plane's address, pitch and width, and on the first columns of windows: multiples of 16 minus the
/// range.
inline int granule_of(const MotionJob& job) {
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(job.reference) |
                             static_cast<std::uintptr_t>(job.reference_pitch) | static_cast<std::uintptr_t>(job.width) |
                             static_cast<std::uintptr_t>(job.range);
  return all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 0;
}

/// Fills `batch` with the jobs and their tiles. Returns the number of tiles.
inline std::uint32_t lay_out_tiles(TileBatch& batch, std::span<const MotionJob> jobs) {
  std::uint32_t tiles = 0;
  for (const MotionJob& job : jobs) {
    const bool short_range = job.range <= TileShape<4>::kSpan / 2;
    const int tile_rows = short_range ? TileShape<4>::kPairs : TileShape<8>::kPairs;
    const auto pairs = static_cast<std::uint32_t>((job.width + kTilePair - 1) / kTilePair);
    batch.jobs[static_cast<std::size_t>(batch.count++)] = {
        job, static_cast<int>(pairs), 0xFFFFFFFFU / pairs + 1, tiles, short_range, granule_of(job)};
    tiles += pairs * static_cast<std::uint32_t>((job.height / kBlockSize + tile_rows - 1) / tile_rows);
  }
  return tiles;
}

}  // namespace c63::cuda
