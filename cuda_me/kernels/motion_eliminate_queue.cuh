#pragma once

// Successive elimination (motion_eliminate.cuh) with Hopper's bulk tensor copies, for a range of 16. One thread block
// stays on each multiprocessor and takes every gridDim-th tile.
//
// All work on its tiles is one queue of items. A warp that is free takes the next item. These are the items of a tile,
// in order:
//   1. prepare the tile's current blocks (one item), and the words of its window (eight rows per item)
//   2. compute the bytes A (half the rows of a group of columns per item)
//   3. search (one block per item)
// While a tile is searched, the tile two after it is prepared. An item waits for the items that it needs. They are
// always earlier in the queue. So no warp is reserved for one kind of work, all warps prepare the first tile, and a
// slow block does not delay the others.

#include "cuda_me/kernels/bulk_copy.cuh"
#include "cuda_me/kernels/motion_eliminate.cuh"

namespace c63::cuda {

inline constexpr int kEliminateRange = kSquare / 2;
inline constexpr int kQueueWarps = 32;
inline constexpr int kQueueThreads = kQueueWarps * kWarp;
inline constexpr unsigned kTileBoxes = 2;  ///< tiles that are loaded or being loaded
inline constexpr unsigned kTileSlots = 3;  ///< tiles that are prepared or searched
inline constexpr unsigned kTilesAhead = 2;

/// The box that is copied for a window: its columns, and its rows, of which one is not needed. Then the bytes of a
/// tile's two copies.
inline constexpr int kBoxColumns = kWordColumns + 4;
inline constexpr int kBoxRows = kWordRows + 1;
inline constexpr int kTileBytes = kBoxRows * kBoxColumns + kBlockSamples * kEliminateBlocks;

/// The numbers of items of a tile by their kind, in the order of the queue.
inline constexpr unsigned kWordItems = kBoxRows / 8;
inline constexpr unsigned kBoxItems = 1 + kWordItems;  ///< the first one is for the current blocks
inline constexpr unsigned kSumParts = 2;
inline constexpr unsigned kSumItems = kSumGroups * kSumParts;
inline constexpr unsigned kMakeItems = kBoxItems + kSumItems;
inline constexpr unsigned kSearchItems = kEliminateBlocks;

/// A job with its planes' tensor maps, from which bulk copies read boxes. Coordinates are in samples.
struct alignas(128) QueueJob {
  CUtensorMap reference;
  CUtensorMap current;
  MotionJob job;
  std::uint32_t tile_columns = 0;
  std::uint32_t first_tile = 0;  ///< index in the batch of this job's first tile
};

struct QueueBatch {
  std::array<QueueJob, kBatchJobs> jobs;
  std::uint32_t count = 0;
  std::uint32_t tiles = 0;
};

/// A tile's samples, as the bulk copies bring them.
struct TileBox {
  alignas(128) std::uint8_t window[kBoxRows * kBoxColumns];
  alignas(128) uint2 current[kBlockSize * kEliminateBlocks];  ///< row by row
};

/// The place of a tile: its job, column and row.
struct TilePlace {
  std::uint32_t which;
  int column;
  int row;
};

/// A tile's data for the search.
struct TileSlot {
  alignas(128) uint2 words[kBoxRows * kWordColumns];  ///< the samples x..x+7
  alignas(16) std::uint32_t sums[kSumRows * kWordColumns];
  uint4 current[kBlockSize / 2 * kEliminateBlocks];  ///< block by block, two rows each
  uint4 squares[kEliminateBlocks];                   ///< bytes A; slacks; shift; 1: all candidates are allowed
  std::uint32_t best[kEliminateBlocks];              ///< the smallest key of each block
  SumScale scale;
  TilePlace place;
};

struct QueueShared {
  std::array<TileBox, kTileBoxes> boxes;
  std::array<TileSlot, kTileSlots> slots;
  std::array<std::uint64_t, kTileBoxes> arrived;   ///< barriers: a box is loaded
  std::array<std::uint64_t, kTileSlots> expanded;  ///< a box's data is no longer needed
  std::array<std::uint64_t, kTileSlots> full;      ///< a slot is ready for the search
  std::array<std::uint64_t, kTileSlots> searched;
  std::uint32_t next;  ///< the first item that no warp has taken
};

#if __CUDA_ARCH__ >= 900

/// Returns a tile's number in the batch. `nth` is the tile's index among the tiles of this thread block: 0 for its
/// first tile, 1 for the second.
[[nodiscard]] __device__ __forceinline__ std::uint32_t queue_tile(std::uint32_t nth) {
  return blockIdx.x + nth * gridDim.x;
}

[[nodiscard]] __device__ __forceinline__ TilePlace place_queue_tile(const QueueBatch& batch, std::uint32_t tile) {
  std::uint32_t which = 0;
  while (which + 1 < batch.count && tile >= batch.jobs[which + 1].first_tile) ++which;
  const QueueJob& job = batch.jobs[which];
  const std::uint32_t index = tile - job.first_tile;
  const std::uint32_t row = index / job.tile_columns;
  return {which, static_cast<int>(index - row * job.tile_columns), static_cast<int>(row)};
}

/// Starts the copies of the thread block's tile with index `nth`, if there is one. Called by one thread.
__device__ __forceinline__ void fetch_queue_tile(QueueShared& shared, const QueueBatch& batch, std::uint32_t nth) {
  if (queue_tile(nth) >= batch.tiles) return;
  const TilePlace place = place_queue_tile(batch, queue_tile(nth));
  const QueueJob& job = batch.jobs[place.which];
  TileBox& box = shared.boxes[nth % kTileBoxes];
  std::uint64_t& arrived = shared.arrived[nth % kTileBoxes];
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived, kTileBytes);
  const int x = place.column * kBlockSize * kEliminateColumns;
  const int y = place.row * kBlockSize * kEliminateRows;
  copy_box(box.window, job.reference, x - kEliminateRange, y - kEliminateRange, arrived);
  copy_box(box.current, job.current, x, y, arrived);
}

/// Builds eight rows of TileSlot::words. A lane writes the elements of two neighbouring samples at a time. A warp needs
/// three such writes for two rows.
__device__ __forceinline__ void make_words(TileSlot& slot, const TileBox& box, unsigned item) {
  constexpr unsigned kWritesARow = kBoxColumns / 2;  // the last two of a row are skipped
  constexpr unsigned kWordsARow = kBoxColumns / 4;
  static_assert(3 * kWarp == 2 * kWritesARow);
  const auto* window = reinterpret_cast<const std::uint32_t*>(box.window) + item * 8 * kWordsARow;
  auto* words = reinterpret_cast<uint4*>(slot.words) + item * 8 * (kWordColumns / 2);
#pragma unroll
  for (unsigned write = 0; write < 3; ++write) {
    const unsigned i = write * kWarp + threadIdx.x % kWarp;
    const unsigned row = i / kWritesARow;
    const unsigned column = i % kWritesARow;
    if (column >= kWordColumns / 2) continue;
    const std::uint32_t* from = window + row * kWordsARow + column / 2;
    uint4* to = words + row * (kWordColumns / 2) + column;
    const unsigned shift = column % 2 * 16;
#pragma unroll
    for (unsigned step = 0; step < 8; step += 2) {
      const std::uint32_t low = from[step * kWordsARow];
      const std::uint32_t middle = from[step * kWordsARow + 1];
      const std::uint32_t high = from[step * kWordsARow + 2];
      to[step * (kWordColumns / 2)] = {__funnelshift_r(low, middle, shift), __funnelshift_r(middle, high, shift),
                                       __funnelshift_r(low, middle, shift + 8),
                                       __funnelshift_r(middle, high, shift + 8)};
    }
  }
}

/// Prepares a tile's current blocks, one per lane, and the scale of all the tile's sums.
__device__ __forceinline__ void make_current(TileSlot& slot, const TileBox& box, const QueueBatch& batch,
                                             const TilePlace& place) {
  static_assert(kEliminateBlocks == kWarp);
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const int tile_x = lane % kEliminateColumns;
  const int tile_y = lane / kEliminateColumns;
  const uint2* rows = box.current + tile_y * kBlockSize * kEliminateColumns + tile_x;
  std::uint32_t sums[4] = {};
#pragma unroll
  for (int row = 0; row < kBlockSize; row += 2) {
    const uint2 upper = rows[row * kEliminateColumns];
    const uint2 lower = rows[(row + 1) * kEliminateColumns];
    slot.current[lane * (kBlockSize / 2) + row / 2] = {upper.x, upper.y, lower.x, lower.y};
    std::uint32_t* two = sums + row / 4 * 2;
    two[0] = add_samples(lower.x, add_samples(upper.x, two[0]));
    two[1] = add_samples(lower.y, add_samples(upper.y, two[1]));
  }
  std::uint32_t total = 0;
  std::uint32_t squares = 0;
#pragma unroll
  for (const std::uint32_t sum : sums) {
    total += sum;
    squares += sum * sum;
  }
  const SumScale scale = scale_for(sum_of_lanes(total) / (4 * kWarp), sum_of_lanes(squares) / (4 * kWarp));
  uint4 block{0, 0, static_cast<std::uint32_t>(scale.shift), 0};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const CurrentSquare square = current_square(sums[i], scale);
    block.x |= square.byte << 8 * i;
    block.y |= square.slack << 8 * i;
  }
  const MotionJob& job = batch.jobs[place.which].job;
  const int x = (place.column * kEliminateColumns + tile_x) * kBlockSize;
  const int y = (place.row * kEliminateRows + tile_y) * kBlockSize;
  const bool all = x >= kEliminateRange && y >= kEliminateRange && x + kEliminateRange + kBlockSize <= job.width &&
                   y + kEliminateRange + kBlockSize <= job.height;
  block.w = all ? 1 : 0;
  slot.squares[lane] = block;
  if (lane != 0) return;
  slot.scale = scale;
  slot.place = place;
}

__device__ __forceinline__ void make_sums(TileSlot& slot, unsigned item) {
  constexpr unsigned kPartRows = kSumRows / kSumParts;
  const unsigned x = item % kSumGroups * kWarp + threadIdx.x % kWarp;
  if (x >= kSumColumns) return;
  const unsigned first = item / kSumGroups * kPartRows * kWordColumns + x;
  sum_column<kPartRows>(slot.words + first, slot.sums + first, slot.scale);
}

__device__ __forceinline__ void search_block(TileSlot& slot, const QueueBatch& batch, unsigned index) {
  const unsigned tile_x = index % kEliminateColumns;
  const unsigned tile_y = index / kEliminateColumns;
  const unsigned offset = (tile_y * kWordColumns + tile_x) * kBlockSize;
  const uint4 squares = slot.squares[index];
  EliminateBlock<uint2> block{
      slot.words + offset,
      slot.sums + offset,
      {slot.current + index * (kBlockSize / 2), squares.x, squares.y, static_cast<int>(squares.z)},
      {}};
  KeyList<1> list;
  if (squares.w != 0) {
    eliminate<WidePairs, true>(list, NoCost{key_of_vector(-kEliminateRange, -kEliminateRange)}, block);
  } else {
    const MotionJob& job = batch.jobs[slot.place.which].job;
    const int column = slot.place.column * kEliminateColumns + static_cast<int>(tile_x);
    const int row = slot.place.row * kEliminateRows + static_cast<int>(tile_y);
    block.allowed = AllowedCandidates::of(search_window(column, row, job.width, job.height, kEliminateRange),
                                          column * kBlockSize - kEliminateRange, row * kBlockSize - kEliminateRange);
    eliminate<WidePairs, false>(list, NoCost{key_of_vector(-kEliminateRange, -kEliminateRange)}, block);
  }
  const std::uint32_t key = list.take_smallest();
  if (threadIdx.x % kWarp == 0) slot.best[index] = key;
}

/// Writes the results of a tile, one block per lane.
__device__ __forceinline__ void store_tile(const TileSlot& slot, const QueueBatch& batch) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const MotionJob& job = batch.jobs[slot.place.which].job;
  const int column = slot.place.column * kEliminateColumns + lane % kEliminateColumns;
  const int row = slot.place.row * kEliminateRows + lane / kEliminateColumns;
  store_best(job, column, row, slot.best[lane]);
}

/// An item of work. `nth` is that of its tile, see queue_tile(), and `item` its number among the tile's items.
/// The items with numbers below kMakeItems prepare the tile, and the others search it.
struct QueueItem {
  std::uint32_t nth;
  std::uint32_t item;
};

/// How many of a tile's search items come before the first items of the tile that is kTilesAhead later. That tile is
/// loaded into the same box. A wait on a barrier can tell the current phase only from the previous one. So no warp may
/// wait for a box's next content while another warp still has to read the old content. The items of the old tile that
/// are in between cannot go on without that other warp. There are enough of them to stop all warps, so that no warp
/// takes an item of the new tile too early.
inline constexpr std::uint32_t kSearchFirst = kSearchItems / 2 + 1;
static_assert(kTilesAhead == kTileBoxes && kBoxItems + kSumItems + kSearchFirst >= kQueueWarps);

/// Returns the item at a place of the queue. The first items prepare kTilesAhead tiles. Then, for each tile, come four
/// groups of items: a part of its search, the first items of the tile ahead, the rest of its search, and the other
/// items of the tile ahead.
[[nodiscard]] __device__ __forceinline__ QueueItem queue_item(std::uint32_t next) {
  static_assert(kTilesAhead == 2);
  constexpr std::uint32_t kPeriod = kMakeItems + kSearchItems;
  if (next < kTilesAhead * kMakeItems) {
    const std::uint32_t nth = next >= kMakeItems ? 1 : 0;
    return {nth, next - nth * kMakeItems};
  }
  next -= kTilesAhead * kMakeItems;
  const std::uint32_t nth = next / kPeriod;
  const std::uint32_t i = next - nth * kPeriod;
  if (i - kSearchFirst < kBoxItems) return {nth + kTilesAhead, i - kSearchFirst};
  if (i >= kSearchItems + kBoxItems) return {nth + kTilesAhead, i - kSearchItems};
  return {nth, kMakeItems + i - (i < kSearchFirst ? 0 : kBoxItems)};
}

/// Takes the next item for a warp. It uses an atomic increment with a limit that is never reached. For a plain atomic
/// addition, the compiler would add code that combines the additions of a warp's lanes.
[[nodiscard]] __device__ __forceinline__ std::uint32_t take_item(QueueShared& shared) {
  std::uint32_t next = 0;
  if (threadIdx.x % kWarp == 0) {
    asm volatile("atom.shared.inc.u32 %0, [%1], 0xFFFFFFFF;"
                 : "=r"(next)
                 : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(&shared.next)))
                 : "memory");
  }
  return __shfl_sync(0xFFFFFFFFU, next, 0);
}

__device__ __forceinline__ void do_item(QueueShared& shared, const QueueBatch& batch, const QueueItem& what) {
  const std::uint32_t nth = what.nth;
  const std::uint32_t round = nth / kTileSlots;
  const std::uint32_t s = nth - round * kTileSlots;
  TileSlot& slot = shared.slots[s];
  if (what.item >= kMakeItems) {
    wait_for(shared.full[s], round & 1U);
    search_block(slot, batch, what.item - kMakeItems);
    ptx::mbarrier_arrive(&shared.searched[s]);
  } else if (what.item < kBoxItems) {
    const TileBox& box = shared.boxes[nth % kTileBoxes];
    std::uint64_t& arrived = shared.arrived[nth % kTileBoxes];
    if (round > 0) wait_for(shared.searched[s], (round - 1) & 1U);
    if (what.item == 0) {
      if (round > 0) store_tile(slot, batch);
      __syncwarp();
      wait_for(arrived, nth / kTileBoxes & 1U);
      make_current(slot, box, batch, place_queue_tile(batch, queue_tile(nth)));
    } else {
      wait_for(arrived, nth / kTileBoxes & 1U);
      make_words(slot, box, what.item - 1);
    }
    ptx::mbarrier_arrive(&shared.expanded[s]);
  } else {
    wait_for(shared.expanded[s], round & 1U);
    if (what.item == kBoxItems && threadIdx.x % kWarp == 0) fetch_queue_tile(shared, batch, nth + kTileBoxes);
    make_sums(slot, what.item - kBoxItems);
    ptx::mbarrier_arrive(&shared.full[s]);
  }
}

__device__ __forceinline__ void work_off(QueueShared& shared, const QueueBatch& batch) {
  std::uint32_t tiles = batch.tiles / gridDim.x;
  if (queue_tile(tiles) < batch.tiles) ++tiles;
  const std::uint32_t items = kTilesAhead * kMakeItems + (kMakeItems + kSearchItems) * tiles;
#pragma unroll 1
  for (;;) {
    const std::uint32_t next = take_item(shared);
    if (next >= items) {  // the first warps without an item store the last tiles
      const std::uint32_t back = next - items;
      if (back >= kTileSlots || back >= tiles) return;
      const std::uint32_t nth = tiles - 1 - back;
      const std::uint32_t s = nth % kTileSlots;
      wait_for(shared.searched[s], nth / kTileSlots & 1U);
      store_tile(shared.slots[s], batch);
      return;
    }
    const QueueItem what = queue_item(next);
    if (what.nth < tiles) do_item(shared, batch, what);
  }
}

/// Runs the queue, on architectures with bulk copies.
__device__ __forceinline__ void eliminate_queue(const QueueBatch& batch, QueueShared& shared) {
  // Lets the next kernel of the stream start on multiprocessors that become free. At this moment, earlier kernels may
  // still be running.
  cudaTriggerProgrammaticLaunchCompletion();
  if (threadIdx.x == 0) {
    shared.next = 0;
    for (std::uint64_t& barrier : shared.arrived) ptx::mbarrier_init(&barrier, 1);
    for (std::uint64_t& barrier : shared.expanded) ptx::mbarrier_init(&barrier, kBoxItems * kWarp);
    for (std::uint64_t& barrier : shared.full) ptx::mbarrier_init(&barrier, kSumItems * kWarp);
    for (std::uint64_t& barrier : shared.searched) ptx::mbarrier_init(&barrier, kSearchItems * kWarp);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cudaGridDependencySynchronize();
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (std::uint32_t nth = 0; nth < kTileBoxes; ++nth) fetch_queue_tile(shared, batch, nth);
  }
  __syncthreads();
  work_off(shared, batch);
}

#endif

}  // namespace c63::cuda
