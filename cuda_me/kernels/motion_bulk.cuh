#pragma once

// The register tile fed by Hopper's bulk tensor copies, with the next tile on its way while this one is searched.
//
// Lanes share a pair of macroblocks as in motion_tile.cuh, four pairs below each other a tile. What differs: one block
// of threads stays on each multiprocessor and has every gridDim-th tile. A window comes as one box of the plane, with
// zeros outside the plane, some tiles ahead; four warps make the shifted copies of it, again some tiles ahead; all
// others take pair after pair of what is ready. So those neither wait for memory nor for each other, and a warp that
// the hardware favours does more of them. What is left for the pipe that the absolute differences need: about 570
// instructions a macroblock, 512 of them differences.
//
// Measured on sm_90 the time is that of two slots for each of those 570 and one for each other instruction: while the
// differences run no slot is left to others, whatever their pipe. More warps, or fewer candidates at a time, change
// nothing.

#include <cuda.h>

#include "cuda_me/kernels/motion_tile.cuh"

namespace c63::cuda {

inline constexpr int kBulkWarps = 16;
inline constexpr int kBulkThreads = kBulkWarps * kWarp;
inline constexpr int kBulkResident = 1;          ///< blocks of threads that a multiprocessor is to hold
inline constexpr int kBulkSweep = kTileDy;       ///< candidates below each other that a lane takes at a time
inline constexpr int kMakerThreads = 4 * kWarp;  ///< the first ones of a block: they make copies
inline constexpr int kTileParts = kTileWarps;    ///< of a tile, that warps take to search
inline constexpr int kBoxes = 4;                 ///< tiles that have come or are on their way
inline constexpr int kSlots = 8;                 ///< tiles with copies
inline constexpr int kBoxPitch =
    64;  ///< bytes of a window row as it comes: from a multiple of 16, as the hardware asks

/// Sizes of the boxes, by how many columns of candidates a lane takes.
template <int kColumns>
struct BulkShape {
  using Tile = TileShape<kColumns>;
  static constexpr int kRange = Tile::kSpan / 2;         ///< the one that there are boxes for
  static constexpr int kLead = (16 - kRange % 16) % 16;  ///< bytes of the box before the window
  static constexpr int kCurrentRows = Tile::kPairs * kBlockSize;
  static constexpr int kBytes = Tile::kRows * kBoxPitch + kCurrentRows * kTilePair;  ///< that arrive for a tile
};

/// A job with its planes as the hardware is told of them: boxes of the right size, coordinates in samples.
struct alignas(128) BulkJob {
  CUtensorMap reference;
  CUtensorMap current;
  MotionJob job;
  int pairs = 0;                 ///< of macroblocks in a row
  std::uint32_t reciprocal = 0;  ///< 2^32 / pairs, rounded up
  std::uint32_t first_tile = 0;  ///< of this job in the batch
  bool narrow = false;           ///< kColumns is 4
};

struct BulkBatch {
  std::array<BulkJob, kBatchJobs> jobs;
  int count = 0;
  std::uint32_t tiles = 0;
};

/// A tile as it comes.
struct BulkBox {
  alignas(128) std::uint8_t window[TileShape<4>::kRows * kBoxPitch];
  alignas(128) uint4 current[BulkShape<4>::kCurrentRows];
};

/// A tile of a batch: its job, and where it lies.
struct BulkPlace {
  int which = 0;
  int pair = 0;
  int tile_row = 0;
};

/// A tile as it is searched.
struct BulkSlot {
  alignas(128) std::uint8_t copies[kTileShifts * TileShape<4>::kCopyBytes];
  uint4 current[BulkShape<4>::kCurrentRows];  ///< a row of a pair of macroblocks each
  BulkPlace place;
};

struct BulkShared {
  std::array<BulkBox, kBoxes> boxes;
  std::array<BulkSlot, kSlots> slots;
  std::array<std::uint64_t, kBoxes> arrived;  ///< a box has come
  std::array<std::uint64_t, kSlots> full;     ///< a slot's copies are made
  std::array<std::uint64_t, kSlots> empty;    ///< and searched
  std::uint32_t next;                         ///< part of a tile that no warp has taken yet
};
static_assert(TileShape<4>::kCopyBytes >= TileShape<8>::kCopyBytes);
// A warp waits at a barrier for the next of its phases only: none can be two rounds ahead of another.
static_assert(kBulkWarps <= kTileParts * kSlots);

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ BulkPlace place_tile(const BulkBatch& batch, std::uint32_t tile, int which) {
  while (which + 1 < batch.count && tile >= batch.jobs[which + 1].first_tile) ++which;
  const BulkJob& job = batch.jobs[which];
  const std::uint32_t index = tile - job.first_tile;
  // index / pairs by the reciprocal, which may be one too large; that of 1 does not fit its word.
  std::uint32_t row = job.pairs == 1 ? index : __umulhi(index, job.reciprocal);
  int pair = static_cast<int>(index - row * static_cast<std::uint32_t>(job.pairs));
  if (pair < 0) {
    --row;
    pair += job.pairs;
  }
  return {which, pair, static_cast<int>(row)};
}

__device__ __forceinline__ void copy_box(const void* to, const CUtensorMap& from, int x, int y,
                                         std::uint64_t& arrived) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(&from), "r"(x), "r"(y), "r"(shared_address(&arrived))
      : "memory");
}

/// Starts the copies of a tile; by one thread.
template <int kColumns>
__device__ __forceinline__ void fetch_tile(BulkBox& box, std::uint64_t& arrived, const BulkJob& job,
                                           const BulkPlace& place) {
  using Shape = BulkShape<kColumns>;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&arrived)),
               "r"(Shape::kBytes)
               : "memory");
  const int x = place.pair * kTilePair;
  const int y = place.tile_row * Shape::kCurrentRows;
  copy_box(box.window, job.reference, x - Shape::kRange - Shape::kLead, y - Shape::kRange, arrived);
  copy_box(box.current, job.current, x, y, arrived);
}

/// Makes the shifted copies of a window that has come; by the makers.
template <int kColumns>
__device__ __forceinline__ void make_copies(BulkSlot& slot, const BulkBox& box) {
  using Tile = TileShape<kColumns>;
  constexpr int kChunks = Tile::kChunks;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kRows * kChunks; i += kMakerThreads) {
    const int row = static_cast<int>(static_cast<unsigned>(i) / kChunks);
    const int chunk = i - row * kChunks;
    const std::uint8_t* from = box.window + row * kBoxPitch + BulkShape<kColumns>::kLead + chunk * 16;
    const uint2 low = *reinterpret_cast<const uint2*>(from);
    const uint2 high = *reinterpret_cast<const uint2*>(from + 8);
    const std::uint32_t words[5] = {low.x, low.y, high.x, high.y, *reinterpret_cast<const std::uint32_t*>(from + 16)};
    std::uint8_t* to = slot.copies + row * kTilePitch + chunk * 16;
#pragma unroll
    for (unsigned s = 0; s < kTileShifts; ++s) {
      *reinterpret_cast<uint4*>(to + s * Tile::kCopyBytes) = {
          __funnelshift_r(words[0], words[1], 8 * s), __funnelshift_r(words[1], words[2], 8 * s),
          __funnelshift_r(words[2], words[3], 8 * s), __funnelshift_r(words[3], words[4], 8 * s)};
    }
  }
  const int i = kMakerThreads - 1 - static_cast<int>(threadIdx.x);  // by those that have a copy less
  if (i < BulkShape<kColumns>::kCurrentRows) slot.current[i] = box.current[i];
}

__device__ __forceinline__ void wait_for(const std::uint64_t& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra end;\n"
      "bra again;\n"
      "end:\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

/// Keys here are sad * kKeyStep + dy * 32 + dx: a product with no power of two is an IMAD, which has a pipe of its own.
inline constexpr std::uint32_t kKeyStep = 1025;

/// Smaller of a lane's keys, less what the lane's own place adds to all of them.
template <int kColumns, int kSweep>
__device__ __forceinline__ std::uint32_t smallest_key(const std::uint32_t (&sums)[kSweep][kColumns], std::uint32_t best,
                                                      std::uint32_t step) {
#pragma unroll
  for (int j = 0; j < kSweep; ++j) {
#pragma unroll
    for (int k = 0; k < kColumns; k += 2) {
      best = min(best, min(sums[j][k] * step + static_cast<unsigned>(j * 32 + 4 * k),
                           sums[j][k + 1] * step + static_cast<unsigned>(j * 32 + 4 * k + 4)));
    }
  }
  return best;
}

/// Added to keys of candidates that are not allowed: larger than any key, and no sum of two overflows.
inline constexpr std::uint32_t kForbidden = 1U << 29;

/// The same of those that are allowed, by what each column and row adds to a key.
template <int kColumns, int kSweep>
__device__ __forceinline__ std::uint32_t smallest_allowed_key(const std::uint32_t (&sums)[kSweep][kColumns],
                                                              std::uint32_t best, std::uint32_t step,
                                                              const std::uint32_t (&columns)[kColumns],
                                                              const std::uint32_t (&rows)[kSweep]) {
#pragma unroll
  for (int j = 0; j < kSweep; ++j) {
    std::uint32_t smallest = kForbidden;
#pragma unroll
    for (int k = 0; k < kColumns; k += 2) {
      smallest = min(smallest, min(sums[j][k] * step + columns[k], sums[j][k + 1] * step + columns[k + 1]));
    }
    best = min(best, smallest + rows[j]);
  }
  return best;
}

/// What the columns or rows first, first + step, ... add to keys: their index, and whether they lie in [low, high).
template <int kCount>
__device__ __forceinline__ void key_parts(std::uint32_t (&parts)[kCount], int first, int step, int weight, int low,
                                          int high) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const bool allowed = static_cast<unsigned>(first + i * step - low) < static_cast<unsigned>(max(high - low, 0));
    parts[i] = static_cast<std::uint32_t>(i * step * weight) + (allowed ? 0U : kForbidden);
  }
}

/// Whether all candidates of a pair of macroblocks count, so that nothing need be asked candidate by candidate.
template <int kColumns>
__device__ __forceinline__ bool pair_inside(const MotionJob& job, int pair, int row) {
  constexpr int kSpan = TileShape<kColumns>::kSpan;
  const int low_x = pair * kTilePair - kSpan / 2;
  const int low_y = row * kBlockSize - kSpan / 2;
  return low_x >= 0 && low_x + kSpan + kTilePair <= job.width && low_y >= 0 && low_y + kSpan + kBlockSize <= job.height;
}

/// Searches a part of a tile, and writes what it finds; by a warp.
template <int kColumns>
__device__ __forceinline__ void search_part(const BulkSlot& slot, const MotionJob& job, const BulkPlace& place,
                                            int part) {
  using Shape = TileShape<kColumns>;
  constexpr int kRange = BulkShape<kColumns>::kRange;
  constexpr int kSweep = kBulkSweep;
  const int thread = part * kWarp + static_cast<int>(threadIdx.x) % kWarp;
  const int lane = thread % Shape::kLanes;
  const int pair_row = thread / Shape::kLanes;
  const int shift = lane % kTileShifts;
  const int group = lane / kTileShifts;
  const std::uint8_t* window =
      slot.copies + shift * Shape::kCopyBytes + (pair_row * kBlockSize + group * kTileDy) * kTilePitch;
  const uint4* current = slot.current + pair_row * kBlockSize;
  const int column = 2 * place.pair;
  const int row = place.tile_row * Shape::kPairs + pair_row;
  const bool inside = __all_sync(0xFFFFFFFFU, pair_inside<kColumns>(job, place.pair, row));
  std::uint32_t step = kKeyStep;
  asm("" : "+r"(step));  // in a register: the other factor's place is the constant's
  std::uint32_t keys[2] = {kForbidden, kForbidden};
#pragma unroll 1
  for (int dy = 0; dy < kTileDy; dy += kSweep) {
    std::uint32_t left[kSweep][kColumns];
    std::uint32_t right[kSweep][kColumns];
    tile_sums<kColumns, kSweep>(window + dy * kTilePitch, current, left, right);
    const std::uint32_t index = static_cast<std::uint32_t>((group * kTileDy + dy) * 32 + shift);
    std::uint32_t found[2];
    if (inside) {
      found[0] = smallest_key<kColumns, kSweep>(left, kForbidden, step);
      found[1] = smallest_key<kColumns, kSweep>(right, kForbidden, step);
    } else {
      const int low_x = column * kBlockSize - kRange;
      const int low_y = row * kBlockSize - kRange;
      const SearchWindow bounds[2] = {search_window(column, row, job.width, job.height, kRange),
                                      search_window(column + 1, row, job.width, job.height, kRange)};
      std::uint32_t rows[kSweep];
      std::uint32_t columns[kColumns];
      key_parts(rows, low_y + group * kTileDy + dy, 1, 32, bounds[0].top, bounds[0].bottom);
      key_parts(columns, low_x + shift, kTileShifts, 1, bounds[0].left, bounds[0].right);
      found[0] = smallest_allowed_key(left, kForbidden, step, columns, rows);
      key_parts(columns, low_x + kBlockSize + shift, kTileShifts, 1, bounds[1].left, bounds[1].right);
      found[1] = smallest_allowed_key(right, kForbidden, step, columns, rows);
    }
    keys[0] = min(keys[0], found[0] + index);
    keys[1] = min(keys[1], found[1] + index);
  }
  std::uint32_t best[2];
#pragma unroll
  for (int b = 0; b < 2; ++b) {
    if constexpr (Shape::kLanes == kWarp) {
      best[b] = warp_min(keys[b]);
    } else {  // two pairs in a warp
      const bool upper = thread % kWarp < Shape::kLanes;
      const std::uint32_t first_pair = warp_min(upper ? keys[b] : kNoCandidate);
      const std::uint32_t second_pair = warp_min(upper ? kNoCandidate : keys[b]);
      best[b] = upper ? first_pair : second_pair;
    }
  }
  if (lane >= 2) return;
  const std::uint32_t key = lane == 0 ? best[0] : best[1];
  if (column + lane >= job.width / kBlockSize || row >= job.height / kBlockSize) return;
  if (key >= kForbidden) {
    store_motion(job, column + lane, row, 0, 0, sad_in_place(job, (column + lane) * kBlockSize, row * kBlockSize));
  } else {
    const std::uint32_t sad = key / kKeyStep;
    const auto index = static_cast<int>(key - sad * kKeyStep);
    store_motion(job, column + lane, row, index % 32 - kRange, index / 32 - kRange, sad);
  }
}

__device__ __forceinline__ void arrive(std::uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

__device__ __forceinline__ void make_ready(std::uint64_t& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}

/// A turn is one of a block's tiles, counted from 0.
__device__ __forceinline__ std::uint32_t tile_of(std::uint32_t turn) { return blockIdx.x + turn * gridDim.x; }

__device__ __forceinline__ void fetch_turn(BulkShared& shared, const BulkBatch& batch, std::uint32_t turn, int which) {
  if (tile_of(turn) >= batch.tiles) return;
  const BulkPlace place = place_tile(batch, tile_of(turn), which);
  const BulkJob& job = batch.jobs[place.which];
  if (job.narrow) {
    fetch_tile<4>(shared.boxes[turn % kBoxes], shared.arrived[turn % kBoxes], job, place);
  } else {
    fetch_tile<8>(shared.boxes[turn % kBoxes], shared.arrived[turn % kBoxes], job, place);
  }
}

__device__ __forceinline__ void make_all_copies(BulkShared& shared, const BulkBatch& batch) {
  int which = 0;
#pragma unroll 1
  for (std::uint32_t turn = 0; tile_of(turn) < batch.tiles; ++turn) {
    const BulkPlace place = place_tile(batch, tile_of(turn), which);
    which = place.which;
    const BulkBox& box = shared.boxes[turn % kBoxes];
    BulkSlot& slot = shared.slots[turn % kSlots];
    wait_for(shared.arrived[turn % kBoxes], turn / kBoxes & 1U);
    if (turn >= kSlots) wait_for(shared.empty[turn % kSlots], turn / kSlots - 1 & 1U);
    if (batch.jobs[which].narrow) {
      make_copies<4>(slot, box);
    } else {
      make_copies<8>(slot, box);
    }
    if (threadIdx.x == 0) slot.place = place;
    arrive(shared.full[turn % kSlots]);
    asm volatile("bar.sync 1, %0;" ::"n"(kMakerThreads) : "memory");
    if (threadIdx.x == 0) fetch_turn(shared, batch, turn + kBoxes, which);
  }
}

__device__ __forceinline__ void search_all_copies(BulkShared& shared, const BulkBatch& batch) {
  const bool first_lane = threadIdx.x % kWarp == 0;
#pragma unroll 1
  for (;;) {
    std::uint32_t next = 0;
    if (first_lane) next = atomicAdd(&shared.next, 1U);
    next = __shfl_sync(0xFFFFFFFFU, next, 0);
    const std::uint32_t turn = next / kTileParts;
    if (tile_of(turn) >= batch.tiles) return;
    const BulkSlot& slot = shared.slots[turn % kSlots];
    wait_for(shared.full[turn % kSlots], turn / kSlots & 1U);
    const BulkPlace place = slot.place;
    const BulkJob& job = batch.jobs[place.which];
    const int part = static_cast<int>(next % kTileParts);
    if (job.narrow) {
      search_part<4>(slot, job.job, place, part);
    } else {
      search_part<8>(slot, job.job, place, part);
    }
    arrive(shared.empty[turn % kSlots]);
  }
}

/// All of the above by architectures that have such copies.
__device__ __forceinline__ void search_bulk_tiles(const BulkBatch& batch, BulkShared& shared) {
  if (threadIdx.x == 0) {
    shared.next = 0;
    for (std::uint64_t& barrier : shared.arrived) make_ready(barrier, 1);
    for (std::uint64_t& barrier : shared.full) make_ready(barrier, kMakerThreads);
    for (std::uint64_t& barrier : shared.empty) make_ready(barrier, kTileParts * kWarp);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < kMakerThreads) {
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (std::uint32_t turn = 0; turn < kBoxes; ++turn) fetch_turn(shared, batch, turn, 0);
    }
    make_all_copies(shared, batch);
  } else {
    search_all_copies(shared, batch);
  }
}

#endif

}  // namespace c63::cuda
