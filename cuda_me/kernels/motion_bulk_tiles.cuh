#pragma once

// Splits a batch of motion searches into the tiles of motion_bulk.cuh, and divides the tiles among thread blocks.

#include <cuda.h>

#include <algorithm>

#include "cuda_me/kernels/motion_tile.cuh"

namespace c63::cuda {

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
  bool narrow = false;        ///< kColumns is 4
};

/// The cost of `turns` turns. A `narrow` turn (range 8) costs 1. A turn of range 16 costs 2, because it has twice the
/// candidates.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t turn_cost(std::uint32_t turns, bool narrow) {
  return turns << (narrow ? 0 : 1);
}
/// Returns how many turns of one kind (see turn_cost()) begin before their total cost reaches `cost`.
[[nodiscard]] __host__ __device__ constexpr std::uint32_t turns_within(std::uint32_t cost, bool narrow) {
  return narrow ? cost : (cost + 1) >> 1;
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
    std::uint32_t index = turns_within(cost_ - job.first, job.narrow);
    cost_ = job.first + turn_cost(index, job.narrow);
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
    cost_ += turn_cost(place_.turns, job.narrow);
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
    place_.turns = min(top_ + tile_height(job) - place_.turn, turns_within(end_ - cost_, job.narrow));
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

}  // namespace c63::cuda
