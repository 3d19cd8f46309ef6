// Prefix scan of 4-byte integers in one pass, for chips with a bulk copy engine (sm_90). A tile (a run of kTile values)
// need not wait until the tile before it is scanned. One thread block (here: block) stays on each multiprocessor and
// takes every gridDim.x-th tile. Its warps have four different jobs, so that the waits of the jobs overlap:
//   fetch  the copy engine fills a ring of tiles in shared memory, several tiles ahead;
//   tell   publishes a tile's sum to all blocks as soon as the tile has arrived, long before it is scanned;
//   add    computes the sum of all values before a tile: this sum for the block's previous tile, plus the sums of the
//          gridDim.x tiles from that tile on;
//   scan   all other warps: scan a tile when the sum before it is known, and write the results.
// Blocks read each other's sums, so all of them must run at the same time: the launch is cooperative.
#include <cuda/ptx>

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/runtime/needs.h"

namespace c63::cuda::kernels {
namespace {

namespace ptx = ::cuda::ptx;

template <int scan_warps, int rounds, int stages>
struct RoundsShape {
  static constexpr int kScanWarps = scan_warps;
  static constexpr int kRounds = rounds;  ///< rounds of four neighbouring values per lane
  static constexpr int kStages = stages;  ///< tiles in shared memory
  static constexpr int kThreads = (kScanWarps + 3) * 32;
  static constexpr int kTile = kScanWarps * kRounds * 128;
  static constexpr std::size_t kSharedBytes = std::size_t{kStages} * kTile * sizeof(std::uint32_t);
};

/// The state of a tile. It is 0 at first. Later it is kTold plus the tile's sum, written and read as one word.
using State = volatile unsigned long long;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

constexpr unsigned long long kTold = 1ULL << 32;

__device__ __forceinline__ void wait(std::uint64_t* barrier, int phase) {
  while (!ptx::mbarrier_try_wait_parity(barrier, static_cast<std::uint32_t>(phase) & 1U)) {
  }
}

/// The four jobs of one thread block (see the start of this file). Thread blocks cannot wait for each other forever.
/// They only wait for the sums of earlier tiles. Other thread blocks publish these sums as soon as the tiles arrive,
/// and tiles arrive in order.
template <typename Shape>
struct RoundsBlock {
  const std::uint32_t* values;
  std::uint32_t* out;
  std::size_t count;
  State* states;
  std::uint32_t* tiles;    ///< a ring of kStages tiles
  std::uint64_t* arrived;  ///< barriers, one per stage: the tile is in shared memory
  std::uint64_t* known;    ///< barriers, one per stage: the sum before the tile is in `before`
  /// Barriers, one per stage: all scanning warps have loaded the tile into registers, and the tile's sum is published.
  /// So the stage may be filled again.
  std::uint64_t* taken;
  unsigned* before;
  unsigned (*warp_sums)[Shape::kScanWarps];

  /// Calls work(tile, stage, uses) for each of the block's tiles. `stage` is the place of the tile in the ring, and
  /// `uses` is the number of earlier tiles that used this place.
  template <typename Work>
  __device__ void for_tiles(Work&& work) const {
    const auto end = static_cast<unsigned>((count + Shape::kTile - 1) / Shape::kTile);
    int stage = 0;
    int uses = 0;
    for (unsigned tile = blockIdx.x; tile < end; tile += gridDim.x) {
      work(tile, stage, uses);
      if (++stage == Shape::kStages) {
        stage = 0;
        ++uses;
      }
    }
  }

  __device__ std::uint32_t* at(int stage) const { return tiles + stage * Shape::kTile; }

  /// Loads tiles into the ring. One thread does this job.
  __device__ void fetch() const {
    for_tiles([&](unsigned tile, int stage, int uses) {
      if (uses > 0) wait(taken + stage, uses - 1);
      const std::size_t first = static_cast<std::size_t>(tile) * Shape::kTile;
      const auto some = static_cast<unsigned>(min(count - first, static_cast<std::size_t>(Shape::kTile)));
      const unsigned whole = some / 4 * 4;  // the engine copies multiples of 16 bytes
      for (unsigned i = whole; i < some; ++i) at(stage)[i] = values[first + i];
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, arrived + stage, whole * 4);
      if (whole > 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, at(stage), values + first, whole * 4,
                           arrived + stage);
      }
    });
  }

  /// Publishes the sums of tiles. One warp does this job. If the last tile is incomplete, its sum is wrong, but no
  /// other tile needs it.
  __device__ void tell() const {
    const unsigned lane = threadIdx.x % 32;
    for_tiles([&](unsigned tile, int stage, int uses) {
      wait(arrived + stage, uses);
      const auto* four = reinterpret_cast<const uint4*>(at(stage));
      unsigned sum = 0;
#pragma unroll 8
      for (unsigned i = lane; i < Shape::kTile / 4; i += 32) {
        const uint4 v = four[i];
        sum += v.x + v.y + v.z + v.w;
      }
      sum = sum_of_lanes(sum);
      if (lane == 0) {
        states[tile] = kTold | sum;
        ptx::mbarrier_arrive(taken + stage);
      }
    });
  }

  /// Returns the sum of the tiles `begin` to `end` - 1, from their states. Waits for states that are not published yet.
  /// A lane starts all its loads before it uses the first value. If each load waited for the previous one, all of them
  /// would take longer than the memory takes to deliver a tile.
  __device__ unsigned told(unsigned begin, unsigned end) const {
    constexpr unsigned kAhead = 8;  // loads per lane at a time; enough for up to 256 blocks
    unsigned sum = 0;
    for (unsigned first = begin + threadIdx.x % 32; first < end; first += kAhead * 32) {
      unsigned long long state[kAhead];
#pragma unroll
      for (unsigned k = 0; k < kAhead; ++k) state[k] = first + k * 32 < end ? states[first + k * 32] : 1ULL << 32;
#pragma unroll
      for (unsigned k = 0; k < kAhead; ++k) {
        while (state[k] == 0) state[k] = states[first + k * 32];
        sum += static_cast<unsigned>(state[k]);
      }
    }
    return sum_of_lanes(sum);
  }

  /// Computes the sum of all values before each of the block's tiles. One warp does this job.
  __device__ void add() const {
    unsigned total = 0;
    for_tiles([&](unsigned tile, int stage, int uses) {
      total += told(tile < gridDim.x ? 0 : tile - gridDim.x, tile);
      if (threadIdx.x % 32 == 0) {
        // The scanning warps may not have read the previous sum of this stage yet. So wait until they have taken the
        // previous tile of the stage.
        if (uses > 0) wait(taken + stage, uses - 1);
        before[stage] = total;
        ptx::mbarrier_arrive(known + stage);
      }
    });
  }

  /// Scans and writes tiles. kScanWarps warps do this job.
  __device__ void scan(bool inclusive) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    int parity = 0;
    for_tiles([&](unsigned tile, int stage, int uses) {
      wait(arrived + stage, uses);
      wait(known + stage, uses);
      const int own = warp * Shape::kRounds * 32 + lane;  // index of the lane's first group of four values
      const auto* four = reinterpret_cast<const uint4*>(at(stage)) + own;
      uint4 v[Shape::kRounds];
#pragma unroll
      for (int r = 0; r < Shape::kRounds; ++r) v[r] = four[r * 32];
      unsigned base = before[stage];
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(taken + stage);
      // scan_warp() replaces the lane's four values v[r] by their own prefix sums, for each r. It sets before_lane[r]
      // to the sum of the warp's values before these four.
      unsigned before_lane[Shape::kRounds];
      const unsigned carry = scan_warp(v, before_lane, lane);
      // Neighbouring tiles use different arrays of sums. So one barrier per tile is enough.
      if (lane == 0) warp_sums[parity][warp] = carry;
      asm volatile("bar.sync 1, %0;" ::"n"(Shape::kScanWarps * 32) : "memory");
#pragma unroll
      for (int k = 0; k < Shape::kScanWarps; ++k) base += k < warp ? warp_sums[parity][k] : 0;
      parity ^= 1;
      const std::size_t first = static_cast<std::size_t>(tile) * Shape::kTile + static_cast<std::size_t>(own * 4);
      const bool whole = (static_cast<std::size_t>(tile) + 1) * Shape::kTile <= count;
#pragma unroll
      for (int r = 0; r < Shape::kRounds; ++r) {
        store_scanned(out, first + static_cast<std::size_t>(r * 128), count, whole, base + before_lane[r], v[r],
                      inclusive);
      }
    });
  }
};

#endif

template <typename Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    scan_rounds_kernel(const std::uint32_t* values, std::uint32_t* out, std::size_t count, State* states,
                       bool inclusive) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::uint32_t tiles[];
  __shared__ std::uint64_t arrived[Shape::kStages], known[Shape::kStages], taken[Shape::kStages];
  __shared__ unsigned before[Shape::kStages];
  __shared__ unsigned warp_sums[2][Shape::kScanWarps];
  if (threadIdx.x == 0) {
    for (int s = 0; s < Shape::kStages; ++s) {
      ptx::mbarrier_init(arrived + s, 1);
      ptx::mbarrier_init(known + s, 1);
      ptx::mbarrier_init(taken + s, Shape::kScanWarps + 1);
    }
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  const RoundsBlock<Shape> block{values, out, count, states, tiles, arrived, known, taken, before, warp_sums};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp < Shape::kScanWarps) {
    block.scan(inclusive);
  } else if (warp == Shape::kScanWarps) {
    if (threadIdx.x % 32 == 0) block.fetch();
  } else if (warp == Shape::kScanWarps + 1) {
    block.tell();
  } else {
    block.add();
  }
#endif
}

using BestShape = RoundsShape<16, 4, 6>;

}  // namespace

bool can_scan_rounds(const std::uint32_t* values, const std::uint32_t* out) {
  return is_aligned(values, 16) && is_aligned(out, 16) &&
         can_run({.kernel = reinterpret_cast<const void*>(scan_rounds_kernel<BestShape>),
                  .threads = BestShape::kThreads,
                  .shared_bytes = BestShape::kSharedBytes,
                  .since = 90,
                  .bulk_copies = true});
}

void scan_rounds(FilterQueue& queue, const std::uint32_t* values, std::uint32_t* out, std::size_t count,
                 bool inclusive) {
  const std::size_t tiles = divide_up(count, BestShape::kTile);
  const std::size_t bytes = tiles * sizeof(unsigned long long);
  auto* states = static_cast<unsigned long long*>(queue.scratch(bytes));  // one for each tile; zero at first
  fill_async(states, 0, bytes, queue.stream());
  const auto blocks = std::min(tiles, static_cast<std::size_t>(queue.multiprocessors()));
  launch(scan_rounds_kernel<BestShape>, {blocks, BestShape::kThreads, BestShape::kSharedBytes, Start::together},
         queue.stream(), values, out, count, states, inclusive);
}

}  // namespace c63::cuda::kernels
