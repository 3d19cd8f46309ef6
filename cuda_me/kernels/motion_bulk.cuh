#pragma once

// The register-tile search (motion_tile.cuh) with windows that are loaded by Hopper's bulk tensor copies. The next
// tiles are loaded while one is searched.
//
// One thread block stays on each multiprocessor and searches its share of the batch, tile after tile. A tile is four
// pairs of adjacent blocks wide and several rows of blocks high. Its window is kept in four copies, shifted by 0 to 3
// bytes, so that words of every candidate are aligned in one of them. The work on a tile is split into turns. A turn is
// the search of one row of blocks (two for kColumns 4) with all candidates of one shift. There are four shifts, and a
// multiprocessor has four schedulers. Warp w only works on shift w % 4, so all schedulers have equal work.
//
//   warp 0, the producer: starts the copies of tiles some tiles ahead, and writes the results
//   warps 1 to 3, the makers: make the copies of the window shifted by 1 to 3 bytes; the loaded box itself has shift 0
//   all others: search; a free warp takes the next turn of its shift
//
//   lane = row group * 4 + pair;  dx = first + shift + 4 k, k < kColumns;  dy = first + 4 * group + j, j < 4
//
// kColumns 8: 32x32 candidates. kColumns 4: 16x16 candidates (chroma); the upper half of the lanes takes the next row
// of blocks.
//
// The rows of a window are an odd number of 16-byte units apart. A 16-byte load is done for eight lanes at a time: four
// pairs, 16 bytes apart, and two groups, four rows apart. They touch banks at 16 * (pair + 4 * odd * group) mod 128,
// which are all different.

#include <algorithm>

#include "cuda_me/kernels/bulk_copy.cuh"
#include "cuda_me/kernels/motion_tile.cuh"

namespace c63::cuda {

// How a batch of searches is split into tiles, and how the tiles are divided among thread blocks.

inline constexpr int kBulkWarps = 16;
inline constexpr int kBulkThreads = kBulkWarps * kWarp;
inline constexpr int kBulkPairs = 4;                       ///< adjacent pairs of blocks in a tile
inline constexpr int kBulkTurns = 4;                       ///< turns of a tile for each shift
inline constexpr int kBulkStages = 4;                      ///< tiles that are loaded or searched
inline constexpr int kBulkColumns = 2 * kBulkPairs;        ///< adjacent blocks in a tile
inline constexpr int kBulkBytes = kBulkPairs * kTilePair;  ///< bytes of a tile's row
/// A box is the part of a plane that one bulk copy loads. This many bytes of each row of the box come before the tile's
/// blocks. It is a multiple of 16, as the hardware requires.
inline constexpr int kBulkLead = 16;
inline constexpr int kBulkPitch = 112;  ///< bytes of a window row

/// The sizes of tiles and windows if a lane has kColumns columns of candidates.
template <int kColumns>
struct BulkShape {
  static constexpr int kSpan = kTileShifts * kColumns;              ///< candidates in x, and in y
  static constexpr int kRange = kSpan / 2;                          ///< the search range, in samples
  static constexpr int kGroups = kSpan / kTileDy;                   ///< groups of lanes, one below the other
  static constexpr int kTurnRows = kWarp / (kBulkPairs * kGroups);  ///< rows of blocks per turn
  static constexpr int kRows = kBulkTurns * kTurnRows;              ///< rows of blocks per tile
  static constexpr int kWindowRows = kRows * kBlockSize + kSpan - 1;
  static constexpr int kLead = kBulkLead - kRange;  ///< bytes of a box's row before the window
  /// How many 16-byte units each lane of a maker copies. Together, the lanes copy slightly more than the window.
  static constexpr int kMakerTurns = (kWindowRows * kBulkPitch / 16 + kWarp - 1) / kWarp;
  static constexpr int kCopyBytes = kMakerTurns * kWarp * 16 + 128;
  static constexpr int kCurrentRows = kRows * kBlockSize;
  static constexpr int kBytes = kWindowRows * kBulkPitch + kCurrentRows * kBulkBytes;  ///< loaded per tile
  static_assert(kBulkPitch >= kBulkBytes + 2 * kBulkLead && kBulkPitch / 16 % 2 == 1);
};

/// A job with its planes' tensor maps, from which bulk copies read boxes. Coordinates are in samples.
struct alignas(128) BulkJob {
  CUtensorMap reference;
  CUtensorMap current;
  MotionJob job;
  std::uint32_t columns = 0;  ///< columns of tiles
  std::uint32_t turns = 0;    ///< turns per column of tiles
  std::uint32_t first = 0;    ///< cost of the batch's turns before this job
  bool short_range = false;   ///< kColumns is 4
};

/// The cost of `turns` turns. A turn of range 8 (`short_range`) costs 1. A turn of range 16 costs 2, because it has
/// twice the candidates.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t turn_cost(std::uint32_t turns, bool short_range) {
  return turns << (short_range ? 0 : 1);
}
/// Returns how many turns of one kind (see turn_cost()) begin before their total cost reaches `cost`.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t turns_within(std::uint32_t cost, bool short_range) {
  return short_range ? cost : (cost + 1) >> 1;
}

struct BulkBatch {
  std::array<BulkJob, kBatchJobs> jobs;
  int count = 0;
  std::uint32_t cost = 0;   ///< cost of all turns
  std::uint64_t share = 0;  ///< the cost for each thread block, times 2^16
};

/// The place of a tile.
struct BulkPlace {
  int which = 0;             ///< index of the job
  std::uint32_t column = 0;  ///< column of tiles
  std::uint32_t turn = 0;    ///< the tile's first turn in the column
  std::uint32_t turns = 0;   ///< up to kBulkTurns; 0: no tile is left
};

#if __CUDA_ARCH__ >= 900

/// A thread block's share of the batch. It gives the tiles of the share one after another.
class BulkShare {
 public:
  __device__ BulkShare(const BulkBatch& batch, std::uint32_t part)
      : end_(start(batch, part + 1)), cost_(start(batch, part)) {
    while (place_.which + 1 < batch.count && cost_ >= batch.jobs[place_.which + 1].first) ++place_.which;
    const BulkJob& job = batch.jobs[place_.which];
    // A share is a range of costs. A turn belongs to the share in which the turn's cost begins.
    std::uint32_t index = turns_within(cost_ - job.first, job.short_range);
    cost_ = job.first + turn_cost(index, job.short_range);
    if (index == job.turns * job.columns) {  // all turns of this job belong to earlier shares
      ++place_.which;
    } else {
      // Shares take the tiles row by row. Tiles at the plane's left and right take longer, and this order spreads them
      // over all shares.
      const std::uint32_t row = index / (kBulkTurns * job.columns);
      index -= row * kBulkTurns * job.columns;
      top_ = row * kBulkTurns;
      place_.column = index / tile_height(job);
      place_.turn = top_ + index - place_.column * tile_height(job);
    }
    settle(batch);
  }

  /// The current tile. If no tile is left, its number of turns is 0.
  [[nodiscard]] __device__ const BulkPlace& place() const { return place_; }

  __device__ void advance(const BulkBatch& batch) {
    const BulkJob& job = batch.jobs[place_.which];
    cost_ += turn_cost(place_.turns, job.short_range);
    place_.turn += place_.turns;
    if (place_.turn == top_ + tile_height(job)) {
      place_.turn = top_;
      ++place_.column;
    }
    settle(batch);
  }

 private:
  __device__ static std::uint32_t start(const BulkBatch& batch, std::uint32_t part) {
    return static_cast<std::uint32_t>(min(batch.share * part >> 16, std::uint64_t{batch.cost}));
  }

  __device__ void settle(const BulkBatch& batch) {
    if (cost_ >= end_) {
      place_.turns = 0;
      return;
    }
    if (place_.column == batch.jobs[place_.which].columns) {
      top_ += tile_height(batch.jobs[place_.which]);
      if (top_ == batch.jobs[place_.which].turns) {
        ++place_.which;
        top_ = 0;
      }
      place_.column = 0;
      place_.turn = top_;
    }
    const BulkJob& job = batch.jobs[place_.which];
    place_.turns = min(top_ + tile_height(job) - place_.turn, turns_within(end_ - cost_, job.short_range));
  }

  /// The number of turns of a tile in the current row of tiles.
  [[nodiscard]] __device__ std::uint32_t tile_height(const BulkJob& job) const {
    return min(job.turns - top_, std::uint32_t{kBulkTurns});
  }

  std::uint32_t end_;
  std::uint32_t cost_;     ///< cost of all turns before the tile
  std::uint32_t top_ = 0;  ///< first turn of the row of tiles
  BulkPlace place_;
};

#endif

/// The data of a tile, from its loading to the end of its search.
struct BulkStage {
  alignas(128) std::uint8_t copies[kTileShifts * std::max(BulkShape<8>::kCopyBytes, BulkShape<4>::kCopyBytes)];
  alignas(128) std::uint8_t current[BulkShape<4>::kCurrentRows * kBulkBytes];
  std::uint32_t keys[BulkShape<4>::kRows * kBulkColumns];     ///< smallest key of each block
  std::uint32_t outside[BulkShape<4>::kRows * kBulkColumns];  ///< see squares_outside()
  std::uint32_t inside[2];                                    ///< one bit per block, 1: all candidates are allowed
  BulkPlace place;
  bool short_range;  ///< kColumns is 4
};

struct BulkShared {
  std::array<BulkStage, kBulkStages> stages;
  /// Barriers that say that a tile's window is ready. Those of index 0 are for the loaded box and all other data of the
  /// tile. Those of index s are for the copy shifted by s bytes.
  std::array<std::array<std::uint64_t, kBulkStages>, kTileShifts> ready;
  std::array<std::uint64_t, kBulkStages> searched;  ///< barriers: all turns of a tile are done
  std::array<std::uint32_t, kTileShifts> next;      ///< for each shift, the first turn that no warp has taken
};
static_assert(BulkShape<4>::kCurrentRows >= BulkShape<8>::kCurrentRows);
// A wait on a barrier can tell the current phase only from the previous one. So no warp may be two phases ahead of
// another warp. With these numbers of warps and stages, none can be.
static_assert(kBulkWarps <= kTileShifts * kBulkStages && kBulkWarps % kTileShifts == 0);

#if __CUDA_ARCH__ >= 900

/// Keys in this file are sad * kKeyStep + dy * 32 + dx. kKeyStep is not a power of two. So the compiler multiplies by
/// IMAD, which uses another pipe than the absolute differences.
inline constexpr std::uint32_t kKeyStep = 1025;
/// This is added to the keys of candidates that are not allowed. It is larger than any key. If it is added twice, the
/// sum does not overflow.
inline constexpr std::uint32_t kForbidden = 1U << 29;

/// Returns a mask of squares of 8x8 candidates. Bit 4 y + x is set if square (x, y) is outside the window. Sides of
/// planes and ranges are multiples of 8, so a window consists of whole squares.
template <int kColumns>
__device__ __forceinline__ std::uint32_t squares_outside(const MotionJob& job, int column, int row) {
  constexpr int kRange = BulkShape<kColumns>::kRange;
  static_assert(kRange % 8 == 0 && kRange <= 16);
  if (column >= job.width / kBlockSize || row >= job.height / kBlockSize) return 0;  // no such block
  const SearchWindow window = search_window(column, row, job.width, job.height, kRange);
  const auto square = [](int position, int block) { return (position - block * kBlockSize + kRange) / 8; };
  const int x = (1 << square(window.right, column)) - (1 << square(window.left, column));
  const int y = ((1 << 4 * square(window.bottom, row)) - (1 << 4 * square(window.top, row))) & 0x1111;
  constexpr int kAll = kColumns == 8 ? 0xFFFF : 0x0033;
  return static_cast<std::uint32_t>(kAll & ~(x * y));
}

/// Starts the copies of a tile and stores its properties. Called by the producer.
template <int kColumns>
__device__ __forceinline__ void fetch_tile(BulkStage& stage, std::uint64_t& ready, const BulkJob& bulk,
                                           const BulkPlace& place) {
  using Shape = BulkShape<kColumns>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int row = static_cast<int>(place.turn) * Shape::kTurnRows;
  if (lane == 0) {
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &ready, Shape::kBytes);
    const int x = static_cast<int>(place.column) * kBulkBytes;
    const int y = row * kBlockSize;
    copy_box(stage.current, bulk.current, x, y, ready);
    copy_box(stage.copies, bulk.reference, x - kBulkLead, y - Shape::kRange, ready);
    stage.place = place;
    stage.short_range = bulk.short_range;
  }
#pragma unroll
  for (int i = 0; i < Shape::kRows * kBulkColumns / kWarp; ++i) {
    const int index = i * kWarp + lane;
    const std::uint32_t outside = squares_outside<kColumns>(
        bulk.job, static_cast<int>(place.column) * kBulkColumns + index % kBulkColumns, row + index / kBulkColumns);
    const std::uint32_t inside = __ballot_sync(0xFFFFFFFFU, outside == 0);
    stage.keys[index] = kForbidden;
    stage.outside[index] = outside;
    if (lane == 0) stage.inside[i] = inside;
  }
}

/// Writes the results of a tile. Called by the producer.
template <int kColumns>
__device__ __forceinline__ void write_tile(const BulkStage& stage, const MotionJob& job) {
  using Shape = BulkShape<kColumns>;
#pragma unroll
  for (int i = 0; i < Shape::kRows * kBulkColumns / kWarp; ++i) {
    const int index = i * kWarp + static_cast<int>(threadIdx.x) % kWarp;
    const int tile_row = index / kBulkColumns;
    const int column = static_cast<int>(stage.place.column) * kBulkColumns + index % kBulkColumns;
    const int row = static_cast<int>(stage.place.turn) * Shape::kTurnRows + tile_row;
    if (tile_row >= static_cast<int>(stage.place.turns) * Shape::kTurnRows || column >= job.width / kBlockSize ||
        row >= job.height / kBlockSize) {
      continue;
    }
    const std::uint32_t key = stage.keys[index];
    if (key >= kForbidden) {
      store_motion(job, column, row, 0, 0, sad_in_place(job, column * kBlockSize, row * kBlockSize));
    } else {
      const std::uint32_t sad = key / kKeyStep;
      const auto place = static_cast<int>(key - sad * kKeyStep);
      store_motion(job, column, row, place % 32 - Shape::kRange, place / 32 - Shape::kRange, sad);
    }
  }
}

__device__ __forceinline__ void produce(BulkShared& shared, const BulkBatch& batch) {
  BulkShare share(batch, blockIdx.x);
  if (share.place().turns > 0) {
    const BulkJob& first = batch.jobs[share.place().which];
    asm volatile("prefetch.tensormap [%0];" ::"l"(&first.reference) : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&first.current) : "memory");
  }
  cudaGridDependencySynchronize();     // waits for earlier work in the stream
  std::uint32_t end = 0xFFFFFFFFU;                    // the number of tiles, as soon as it is known
#pragma unroll 1
  for (std::uint32_t tile = 0; end == 0xFFFFFFFFU || tile < end + kBulkStages; ++tile) {
    const std::uint32_t index = tile % kBulkStages;
    BulkStage& stage = shared.stages[index];
    if (tile >= kBulkStages) {
      wait_for(shared.searched[index], tile / kBulkStages - 1 & 1U);
      const MotionJob& job = batch.jobs[stage.place.which].job;
      if (stage.short_range) {
        write_tile<4>(stage, job);
      } else {
        write_tile<8>(stage, job);
      }
      __syncwarp();
    }
    if (tile > end) continue;
    const BulkPlace place = share.place();
    if (place.turns == 0) {
      end = tile;
      stage.place.turns = 0;
    } else {
      const BulkJob& bulk = batch.jobs[place.which];
      if (bulk.short_range) {
        fetch_tile<4>(stage, shared.ready[0][index], bulk, place);
      } else {
        fetch_tile<8>(stage, shared.ready[0][index], bulk, place);
      }
      share.advance(batch);
    }
    ptx::mbarrier_arrive(&shared.ready[0][index]);
  }
}

/// Makes the copy of a window that is shifted by `shift` bytes, 1 to 3. kHelpers warps call it, and each makes a part
/// of the copy. `helper` is the number of the calling warp among them, from 0 on.
template <int kColumns, int kHelpers>
__device__ __forceinline__ void make_copy(BulkStage& stage, int shift, int helper) {
  using Shape = BulkShape<kColumns>;
  constexpr int kBytes = kWarp * 16;
  const int first = static_cast<int>(threadIdx.x) % kWarp * 16 + helper * kBytes;
  const std::uint8_t* from = stage.copies + first;
  std::uint8_t* to = stage.copies + shift * Shape::kCopyBytes + first;
#pragma unroll
  for (int i = 0; i < Shape::kMakerTurns * kBytes; i += kHelpers * kBytes) {
    if (kHelpers > 1 && helper * kBytes + i >= Shape::kMakerTurns * kBytes) break;
    const uint4 words = *reinterpret_cast<const uint4*>(from + i);
    const std::uint32_t next = *reinterpret_cast<const std::uint32_t*>(from + i + 16);
    *reinterpret_cast<uint4*>(to + i) = {
        __funnelshift_r(words.x, words.y, 8 * shift), __funnelshift_r(words.y, words.z, 8 * shift),
        __funnelshift_r(words.z, words.w, 8 * shift), __funnelshift_r(words.w, next, 8 * shift)};
  }
}

/// Makes a shifted copy for the first tile. All warps of that shift take part, because they have nothing to search yet.
__device__ __forceinline__ void make_first_copy(BulkShared& shared, int shift) {
  BulkStage& stage = shared.stages[0];
  wait_for(shared.ready[0][0], 0);
  if (stage.place.turns == 0) return;
  constexpr int kHelpers = kBulkWarps / kTileShifts;
  const int helper = static_cast<int>(threadIdx.x) / (kTileShifts * kWarp);
  if (stage.short_range) {
    make_copy<4, kHelpers>(stage, shift, helper);
  } else {
    make_copy<8, kHelpers>(stage, shift, helper);
  }
  asm volatile("bar.sync %0, %1;" ::"r"(shift), "n"(kHelpers * kWarp) : "memory");
}

__device__ __forceinline__ void make_copies(BulkShared& shared, int shift) {
#pragma unroll 1
  for (std::uint32_t tile = 0;; ++tile) {
    const std::uint32_t index = tile % kBulkStages;
    BulkStage& stage = shared.stages[index];
    wait_for(shared.ready[0][index], tile / kBulkStages & 1U);
    const bool end = stage.place.turns == 0;
    if (!end && tile > 0) {
      if (stage.short_range) {
        make_copy<4, 1>(stage, shift, 0);
      } else {
        make_copy<8, 1>(stage, shift, 0);
      }
    }
    ptx::mbarrier_arrive(&shared.ready[shift][index]);
    if (end) return;
  }
}

/// Returns the smallest of a lane's keys. The part of a key that depends only on the lane is not included: it is the
/// same in all these keys, so the caller adds it once.
template <int kColumns>
__device__ __forceinline__ std::uint32_t smallest_key(const std::uint32_t (&sums)[kTileDy][kColumns],
                                                      std::uint32_t step) {
  std::uint32_t best = kForbidden;
#pragma unroll
  for (int j = 0; j < kTileDy; ++j) {
#pragma unroll
    for (int k = 0; k < kColumns; k += 2) {
      best = min(best, min(sums[j][k] * step + static_cast<unsigned>(j * 32 + 4 * k),
                           sums[j][k + 1] * step + static_cast<unsigned>(j * 32 + 4 * k + 4)));
    }
  }
  return best;
}

/// The same as above, but without the candidates in squares outside the window. The lane's candidates lie in one row of
/// squares, and bit x of `outside` is set if square x of this row is outside.
template <int kColumns>
__device__ __forceinline__ std::uint32_t smallest_key(const std::uint32_t (&sums)[kTileDy][kColumns],
                                                      std::uint32_t step, std::uint32_t outside) {
  std::uint32_t best = kForbidden;
#pragma unroll
  for (int k = 0; k < kColumns; k += 2) {
    std::uint32_t smallest = kForbidden;
#pragma unroll
    for (int j = 0; j < kTileDy; ++j) {
      smallest = min(smallest, min(sums[j][k] * step + static_cast<unsigned>(j * 32 + 4 * k),
                                   sums[j][k + 1] * step + static_cast<unsigned>(j * 32 + 4 * k + 4)));
    }
    best = min(best, smallest + ((outside >> k / 2 & 1U) != 0 ? kForbidden : 0U));
  }
  return best;
}

/// Searches one turn. Called by a warp.
template <int kColumns>
__device__ __forceinline__ void search_turn(BulkStage& stage, int turn, int shift) {
  using Shape = BulkShape<kColumns>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int pair = lane % kBulkPairs;
  const int group = lane / kBulkPairs % Shape::kGroups;
  const int row = turn * Shape::kTurnRows + lane / (kBulkPairs * Shape::kGroups);
  std::uint32_t left[kTileDy][kColumns];
  std::uint32_t right[kTileDy][kColumns];
  tile_sums<kColumns, kTileDy, Shape::kLead, kBulkPitch, kBulkBytes>(
      stage.copies + shift * Shape::kCopyBytes + (row * kBlockSize + group * kTileDy) * kBulkPitch + pair * kTilePair,
      stage.current + row * kBlockSize * kBulkBytes + pair * kTilePair, left, right);
  std::uint32_t step = kKeyStep;
  asm("" : "+r"(step));  // in a register, because the instruction takes only one constant
  std::uint32_t keys[2];
  const int block = row * kBulkColumns + 2 * pair;
  constexpr std::uint32_t kAll = (1ULL << Shape::kTurnRows * kBulkColumns) - 1;
  constexpr int kTurnsAWord = 32 / (Shape::kTurnRows * kBulkColumns);
  const std::uint32_t inside = stage.inside[turn / kTurnsAWord] >> turn % kTurnsAWord * (32 / kTurnsAWord);
  if ((inside & kAll) == kAll) {
    keys[0] = smallest_key(left, step);
    keys[1] = smallest_key(right, step);
  } else {
    const int squares = group / 2 * 4;
    keys[0] = smallest_key(left, step, stage.outside[block] >> squares);
    keys[1] = smallest_key(right, step, stage.outside[block + 1] >> squares);
  }
  const std::uint32_t place = static_cast<std::uint32_t>(group * kTileDy * 32 + shift);
  atomicMin(&stage.keys[block], keys[0] + place);
  atomicMin(&stage.keys[block + 1], keys[1] + place);
}

__device__ __forceinline__ void search_turns(BulkShared& shared, int shift) {
#pragma unroll 1
  for (;;) {
    std::uint32_t next = 0;
    if (threadIdx.x % kWarp == 0) {
      asm volatile("atom.shared::cta.add.u32 %0, [%1], 1;"
                   : "=r"(next)
                   : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(&shared.next[shift])))
                   : "memory");
    }
    next = __shfl_sync(0xFFFFFFFFU, next, 0);
    const std::uint32_t tile = next / kBulkTurns;
    const std::uint32_t turn = next % kBulkTurns;
    BulkStage& stage = shared.stages[tile % kBulkStages];
    wait_for(shared.ready[shift][tile % kBulkStages], tile / kBulkStages & 1U);
    const std::uint32_t turns = stage.place.turns;
    if (turns == 0) return;
    if (turn < turns) {
      if (stage.short_range) {
        search_turn<4>(stage, static_cast<int>(turn), shift);
      } else {
        search_turn<8>(stage, static_cast<int>(turn), shift);
      }
    }
    ptx::mbarrier_arrive(&shared.searched[tile % kBulkStages]);
  }
}

/// Runs the search of all tiles, on architectures with bulk copies.
__device__ __forceinline__ void search_bulk_tiles(const BulkBatch& batch, BulkShared& shared) {
  if (threadIdx.x == 0) {
    for (std::uint32_t& next : shared.next) next = 0;
    for (auto& ready : shared.ready) {
      for (std::uint64_t& barrier : ready) ptx::mbarrier_init(&barrier, kWarp);
    }
    for (std::uint64_t& barrier : shared.searched) ptx::mbarrier_init(&barrier, kTileShifts * kBulkTurns * kWarp);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  cudaTriggerProgrammaticLaunchCompletion();
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int shift = warp % kTileShifts;
  if (shift > 0) make_first_copy(shared, shift);
  if (warp == 0) {
    produce(shared, batch);
  } else if (warp == shift) {
    make_copies(shared, shift);
  } else {
    search_turns(shared, shift);
  }
}

#endif

}  // namespace c63::cuda
