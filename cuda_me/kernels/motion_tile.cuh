#pragma once

// The register-tile search. A warp takes a pair of horizontally adjacent macroblocks; a lane takes, for each of them, a
// tile of kColumns x 4 candidates: every fourth dx (so that one byte-shifted copy of the window serves all of them
// without a shift) and four consecutive dy (so that a loaded row serves four candidates). The two macroblocks are 8
// bytes apart, so the same three 16-byte loads a row feed both.
//
//   lane = row group * 4 + byte shift;  dx = first + shift + 4 k, k < kColumns;  dy = first + 4 * group + j, j < 4
//
// kColumns 8: 32x32 candidates, all lanes one pair. kColumns 4: 16x16 candidates (chroma), half a warp a pair.
// Larger ranges take several passes over such squares.
//
// Shared memory holds four copies of the window, copy s shifted s bytes left and s rows down. Rows are 48 bytes (16 times
// an odd number) and copies start at multiples of 128, so the eight lanes of a load's phase (two groups, four copies)
// touch banks 16 * (s * 3 + group * 12) mod 128: all different.

#include <cuda.h>

#include "cuda_me/kernels/motion_common.cuh"

namespace c63::cuda {

inline constexpr int kTileWarps = 4;
inline constexpr int kTileThreads = kTileWarps * kWarp;
inline constexpr int kTileShifts = 4;
inline constexpr int kTileDy = 4;        ///< candidates a lane takes below each other
inline constexpr int kTilePitch = 48;    ///< bytes of a window row
inline constexpr int kTilePair = 2 * kBlockSize;

/// Sizes that follow from how many columns of candidates a lane takes.
template <int kColumns>
struct TileShape {
  static constexpr int kSpan = kTileShifts * kColumns;               ///< candidates a pass has in x and in y
  static constexpr int kGroups = kSpan / kTileDy;                    ///< lanes above each other
  static constexpr int kLanes = kTileShifts * kGroups;               ///< lanes a pair
  static constexpr int kPairs = kTileThreads / kLanes;               ///< pairs above each other in a block of threads
  static constexpr int kRows = kBlockSize * kPairs + kSpan - 1;      ///< window rows
  static constexpr int kBoxRows = kRows + kTileShifts - 1;           ///< and those that the copies are moved down
  static constexpr int kCopyBytes = (kBoxRows * kTilePitch + 127) / 128 * 128;
  static constexpr int kChunks = kColumns == 8 ? 3 : 2;              ///< 16-byte loads a row
};

struct TileJob {
  MotionJob job;
  int pairs = 0;              ///< pairs of macroblocks in a row
  std::uint32_t reciprocal = 0;  ///< 2^32 / pairs, rounded up
  std::uint32_t first_tile = 0;  ///< of this job in the grid
  bool narrow = false;           ///< kColumns is 4
  bool mapped = false;           ///< the window comes by the copy engine
};

struct TileBatch {
  std::array<CUtensorMap, kBatchJobs> maps;
  std::array<TileJob, kBatchJobs> jobs;
  int count;
};

#if defined(__CUDACC__)

struct alignas(128) TileShared {
  std::uint8_t copies[kTileShifts * TileShape<4>::kCopyBytes];
  uint4 current[TileShape<4>::kPairs * kBlockSize];  ///< a row of a pair of macroblocks each
  std::uint64_t arrived;                             ///< barrier of the copy engine
};
static_assert(TileShape<4>::kCopyBytes >= TileShape<8>::kCopyBytes);

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// An aligned word of the reference, 0 outside the plane; a plane is a whole number of words wide.
__device__ inline std::uint32_t reference_word(const MotionJob& job, int x, int y, bool aligned) {
  if (x < 0 || y < 0 || x >= job.width || y >= job.height) return 0;
  const std::uint8_t* p = job.reference + y * job.reference_pitch + x;
  if (aligned) return *reinterpret_cast<const std::uint32_t*>(p);
  return p[0] | p[1] << 8 | p[2] << 16 | static_cast<std::uint32_t>(p[3]) << 24;
}

/// Fills the four copies of the window whose first sample is (x, y), by ordinary loads.
template <typename Shape>
__device__ inline void load_tile_window(TileShared& shared, const MotionJob& job, int x, int y) {
  const bool aligned = (reinterpret_cast<std::uintptr_t>(job.reference) | job.reference_pitch) % 4 == 0;
  const unsigned misfit = static_cast<unsigned>(x & 3) * 8;
  const int base = x & ~3;
  constexpr int kWords = Shape::kChunks * 4;
  for (int i = static_cast<int>(threadIdx.x); i < Shape::kRows * kWords; i += kTileThreads) {
    const int row = i / kWords;
    const int word = i % kWords;
    const std::uint32_t a = reference_word(job, base + 4 * word, y + row, aligned);
    const std::uint32_t b = reference_word(job, base + 4 * word + 4, y + row, aligned);
    const std::uint32_t c = reference_word(job, base + 4 * word + 8, y + row, aligned);
    const std::uint32_t low = __funnelshift_r(a, b, misfit);
    const std::uint32_t high = __funnelshift_r(b, c, misfit);
#pragma unroll
    for (int s = 0; s < kTileShifts; ++s) {
      auto* to = reinterpret_cast<std::uint32_t*>(shared.copies + s * Shape::kCopyBytes + (row + s) * kTilePitch);
      to[word] = __funnelshift_r(low, high, static_cast<unsigned>(s) * 8);
    }
  }
}

#if __CUDA_ARCH__ >= 900
/// One thread asks the copy engine for the four copies: shifting costs nothing, and neither do the plane's edges.
template <typename Shape>
__device__ __forceinline__ void fetch_tile_window(TileShared& shared, const CUtensorMap& map, int x, int y) {
  const std::uint32_t barrier = shared_address(&shared.arrived);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
               "r"(kTileShifts * Shape::kBoxRows * kTilePitch)
               : "memory");
#pragma unroll
  for (int s = 0; s < kTileShifts; ++s) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        ::"r"(shared_address(shared.copies + s * Shape::kCopyBytes)), "l"(&map), "r"(x + s), "r"(y - s), "r"(barrier)
        : "memory");
  }
}

__device__ __forceinline__ void wait_for_window(TileShared& shared, unsigned phase) {
  const std::uint32_t barrier = shared_address(&shared.arrived);
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(phase)
      : "memory");
}
#endif

/// The current macroblocks of the tile: a word a thread and turn.
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

/// Finds a lane's smallest key, sad << 10 | (4 group + j) << 5 | (shift + 4 k), of the candidates that are allowed.
struct IntegerMinimum {
  template <int kColumns>
  __device__ static __forceinline__ std::uint32_t find(const std::uint32_t (&sums)[kTileDy][kColumns],
                                                       std::uint32_t lane_index) {
    std::uint32_t best = kNoCandidate;
#pragma unroll
    for (int j = 0; j < kTileDy; ++j) {
#pragma unroll
      for (int k = 0; k < kColumns; ++k) best = min(best, (sums[j][k] << 10) + static_cast<unsigned>(j * 32 + 4 * k));
    }
    return best + lane_index;
  }
  template <int kColumns>
  __device__ static __forceinline__ std::uint32_t find_masked(const std::uint32_t (&sums)[kTileDy][kColumns],
                                                              std::uint32_t lane_index, std::uint32_t columns,
                                                              std::uint32_t rows) {
    std::uint32_t best = 0x7FFFFFFFU;
#pragma unroll
    for (int j = 0; j < kTileDy; ++j) {
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        const bool allowed = (columns >> k & rows >> j & 1U) != 0;
        best = min(best, allowed ? (sums[j][k] << 10) + static_cast<unsigned>(j * 32 + 4 * k) : 0x7FFFFFFFU);
      }
    }
    return best + lane_index;
  }
};

/// The same by floating point, which runs beside the pipe that the absolute differences keep busy; integer minima share
/// it. A sum's bits, read as a denormal, are sum * 2^-149; scaled by 2^119 with the index below it is an exact 24-bit
/// number sum * 2^-30 + index * 2^-40, and min(a, b) = a - saturate(a - b), every step exact.
struct FloatMinimum {
  static constexpr float kScale = 0x1p119F;
  static constexpr float kStep = 0x1p-40F;

  template <int kColumns>
  __device__ static __forceinline__ std::uint32_t find(const std::uint32_t (&sums)[kTileDy][kColumns],
                                                       std::uint32_t lane_index) {
    float best = 1.0F;
#pragma unroll
    for (int j = 0; j < kTileDy; ++j) {
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        const float key =
            __fmaf_rn(__uint_as_float(sums[j][k]), kScale, static_cast<float>(j * 32 + 4 * k) * kStep);
        best = j == 0 && k == 0 ? key : __fsub_rn(best, __saturatef(__fsub_rn(best, key)));
      }
    }
    return static_cast<std::uint32_t>(__float2int_rn(best * 0x1p40F)) + lane_index;
  }
  template <int kColumns>
  __device__ static __forceinline__ std::uint32_t find_masked(const std::uint32_t (&sums)[kTileDy][kColumns],
                                                              std::uint32_t lane_index, std::uint32_t columns,
                                                              std::uint32_t rows) {
    return IntegerMinimum::find_masked(sums, lane_index, columns, rows);
  }
};

/// Bits b < count that say whether first + b * step lies in [low, high).
__device__ __forceinline__ std::uint32_t allowed_bits(int first, int step, int count, int low, int high) {
  std::uint32_t bits = 0;
#pragma unroll
  for (int b = 0; b < count; ++b) {
    const int position = first + b * step;
    if (position >= low && position < high) bits |= 1U << b;
  }
  return bits;
}

/// Sums of a lane's candidates for both macroblocks of its pair.
template <int kColumns>
__device__ __forceinline__ void tile_sums(const std::uint8_t* window, const uint4* current,
                                          std::uint32_t (&left)[kTileDy][kColumns],
                                          std::uint32_t (&right)[kTileDy][kColumns]) {
  constexpr int kChunks = TileShape<kColumns>::kChunks;
#pragma unroll
  for (int j = 0; j < kTileDy; ++j) {
#pragma unroll
    for (int k = 0; k < kColumns; ++k) left[j][k] = right[j][k] = 0;
  }
  uint4 rows[kBlockSize];
#pragma unroll
  for (int r = 0; r < kBlockSize + kTileDy - 1; ++r) {
    if (r < kBlockSize) rows[r] = current[r];
    std::uint32_t words[kChunks * 4];
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const uint4 chunk = *reinterpret_cast<const uint4*>(window + r * kTilePitch + c * 16);
      words[4 * c] = chunk.x;
      words[4 * c + 1] = chunk.y;
      words[4 * c + 2] = chunk.z;
      words[4 * c + 3] = chunk.w;
    }
#pragma unroll
    for (int j = 0; j < kTileDy; ++j) {
      const int i = r - j;
      if (i < 0 || i >= kBlockSize) continue;
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        left[j][k] = absdiff4_add(words[k], rows[i].x, left[j][k]);
        right[j][k] = absdiff4_add(words[k + 2], rows[i].z, right[j][k]);
      }
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        left[j][k] = absdiff4_add(words[k + 1], rows[i].y, left[j][k]);
        right[j][k] = absdiff4_add(words[k + 3], rows[i].w, right[j][k]);
      }
    }
  }
}

/// Key of the whole search of a macroblock: sad << 16 | (dy + 128) << 8 | (dx + 128); orders as candidate_key() does.
__device__ __forceinline__ std::uint32_t widen_key(std::uint32_t key, int first_dx, int first_dy) {
  if (key >= 1U << 24) return kNoCandidate;
  return (key >> 10) << 16 | static_cast<std::uint32_t>(first_dy + static_cast<int>(key >> 5 & 31) + 128) << 8 |
         static_cast<std::uint32_t>(first_dx + static_cast<int>(key & 31) + 128);
}

template <int kColumns, typename Minimum>
__device__ __forceinline__ void search_tile(TileShared& shared, const TileJob& tile_job, const CUtensorMap& map,
                                            std::uint32_t tile) {
  using Shape = TileShape<kColumns>;
  const MotionJob& job = tile_job.job;
  // tile / pairs by the reciprocal, which may be one too large.
  std::uint32_t tile_row = __umulhi(tile, tile_job.reciprocal);
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
  const std::uint8_t* window = shared.copies + shift * (Shape::kCopyBytes + kTilePitch) +
                               (pair_row * kBlockSize + group * kTileDy) * kTilePitch;
  const uint4* current = shared.current + pair_row * kBlockSize;
  const std::uint32_t lane_index = static_cast<std::uint32_t>(group * kTileDy * 32 + shift);
  const int row = static_cast<int>(tile_row) * Shape::kPairs + pair_row;
  const SearchWindow bounds[2] = {search_window(2 * pair, row, job.width, job.height, job.range),
                                  search_window(2 * pair + 1, row, job.width, job.height, job.range)};
  std::uint32_t best[2] = {kNoCandidate, kNoCandidate};
#if __CUDA_ARCH__ >= 900
  unsigned phase = 0;
#endif
  bool first = true;
  for (int first_dy = -job.range; first_dy < job.range; first_dy += Shape::kSpan) {
    for (int first_dx = -job.range; first_dx < job.range; first_dx += Shape::kSpan) {
      if (!first) __syncthreads();
#if __CUDA_ARCH__ >= 900
      if (tile_job.mapped) {
        if (thread == 0) fetch_tile_window<Shape>(shared, map, x + first_dx, y + first_dy);
      } else {
        load_tile_window<Shape>(shared, job, x + first_dx, y + first_dy);
      }
#else
      load_tile_window<Shape>(shared, job, x + first_dx, y + first_dy);
#endif
      if (first) load_tile_current<Shape>(shared, job, x, y);
      first = false;
      __syncthreads();
#if __CUDA_ARCH__ >= 900
      if (tile_job.mapped) {
        wait_for_window(shared, phase);
        phase ^= 1U;
      }
#endif
      std::uint32_t left[kTileDy][kColumns];
      std::uint32_t right[kTileDy][kColumns];
      tile_sums<kColumns>(window, current, left, right);
      // Whether all candidates of the pass count, for both macroblocks.
      const int low_x = x + first_dx;
      const int low_y = row * kBlockSize + first_dy;
      const bool inside = job.range >= Shape::kSpan / 2 && bounds[0].left <= low_x &&
                          low_x + Shape::kSpan <= bounds[0].right && low_x + kBlockSize + Shape::kSpan <= bounds[1].right &&
                          bounds[0].top <= low_y && low_y + Shape::kSpan <= bounds[0].bottom;
      std::uint32_t keys[2];
      if (__all_sync(0xFFFFFFFFU, inside)) {
        keys[0] = Minimum::find(left, lane_index);
        keys[1] = Minimum::find(right, lane_index);
      } else {
        const std::uint32_t rows =
            allowed_bits(low_y + group * kTileDy, 1, kTileDy, bounds[0].top, bounds[0].bottom);
        keys[0] = Minimum::find_masked(
            left, lane_index, allowed_bits(low_x + shift, kTileShifts, kColumns, bounds[0].left, bounds[0].right), rows);
        keys[1] = Minimum::find_masked(right, lane_index,
                                       allowed_bits(low_x + kBlockSize + shift, kTileShifts, kColumns, bounds[1].left,
                                                    bounds[1].right),
                                       rows);
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
  const int column = 2 * pair + lane;
  const std::uint32_t key = lane == 0 ? best[0] : best[1];
  if (column >= job.width / kBlockSize || row >= job.height / kBlockSize) return;
  if (key == kNoCandidate) {
    store_motion(job, column, row, 0, 0, sad_in_place(job, column * kBlockSize, row * kBlockSize));
  } else {
    store_motion(job, column, row, static_cast<int>(key & 0xFFU) - 128, static_cast<int>(key >> 8 & 0xFFU) - 128,
                 key >> 16);
  }
}

template <typename Minimum>
__device__ __forceinline__ void search_tiles(const TileBatch& batch) {
  __shared__ TileShared shared;
  int which = 0;
  while (which + 1 < batch.count && blockIdx.x >= batch.jobs[which + 1].first_tile) ++which;
  const TileJob& job = batch.jobs[which];
#if __CUDA_ARCH__ >= 900
  if (job.mapped) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&shared.arrived)) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
  }
#endif
  if (job.narrow) {
    search_tile<4, Minimum>(shared, job, batch.maps[which], blockIdx.x - job.first_tile);
  } else {
    search_tile<8, Minimum>(shared, job, batch.maps[which], blockIdx.x - job.first_tile);
  }
}

#endif

/// Lays the jobs of a launch out; returns the number of tiles. `use_maps`: by the copy engine where a plane allows it.
std::uint32_t lay_out_tiles(TileBatch& batch, std::span<const MotionJob> jobs, bool use_maps);

}  // namespace c63::cuda
