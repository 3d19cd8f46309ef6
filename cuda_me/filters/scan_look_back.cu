// Prefix scan of 4-byte integers in one pass: memory is read once and written once. A thread block takes the next tile
// (a run of kTile values), scans it in registers and publishes its sum. Then it looks back over the earlier tiles, up
// to one that has published the sum of itself and all tiles before it (Merrill and Garland, "Single-pass parallel
// prefix scan with decoupled look-back"). In one look, each thread reads the state of one tile. A thread block has more
// threads than there are tiles in work, so one look is normally enough.
#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/filters/filter_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kThreads = 512;
/// A multiprocessor must be able to hold this many thread blocks. So the compiler limits the registers per thread.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kResidentBlocks = 2;  // sm_75 holds 1024 threads
#else
constexpr int kResidentBlocks = 3;
#endif
constexpr int kWarps = kThreads / 32;
constexpr int kRounds = 4;  // rounds of four neighbouring values per lane
constexpr int kWarpValues = kRounds * 32 * 4;
constexpr std::size_t kTile = static_cast<std::size_t>(kWarps) * kWarpValues;

// The state of a tile has a flag in its upper half and a sum in its lower half. Both are read and written together. The
// state is 0 at first. With this flag, the sum is that of the tile alone.
constexpr unsigned long long kSumOfTile = 1ULL << 32;
constexpr unsigned long long kSumOfAll = 2ULL << 32;  // the sum of the tile and all tiles before it

using State = volatile unsigned long long;

/// Returns the sum of all values before tile number `tile`. All threads call it, and all get the sum.
__device__ unsigned look_back(State* states, std::int64_t tile) {
  __shared__ unsigned sums[kWarps];  // the sum of the tiles that each warp looked at, up to one with kSumOfAll
  __shared__ bool knows[kWarps];     // true if the warp found a tile with kSumOfAll
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  unsigned before = 0;
  for (std::int64_t last = tile - 1;; last -= kThreads) {
    const std::int64_t mine = last - static_cast<std::int64_t>(threadIdx.x);
    unsigned long long state = kSumOfAll;
    if (mine >= 0) {
      do {
        state = states[mine];
      } while (state == 0);
    }
    const unsigned known = __ballot_sync(kFullWarp, (state & kSumOfAll) != 0);
    const int needed = known == 0 ? 32 : __ffs(static_cast<int>(known));
    const unsigned value = sum_of_lanes(lane < needed ? static_cast<unsigned>(state) : 0U);
    if (lane == 0) {
      sums[warp] = value;
      knows[warp] = known != 0;
    }
    __syncthreads();
    bool found = false;
#pragma unroll
    for (int k = 0; k < kWarps; ++k) {
      before += found ? 0 : sums[k];
      found = found || knows[k];
    }
    __syncthreads();
    if (found) return before;
  }
}

__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    scan_look_back_kernel(const std::uint32_t* values, std::uint32_t* out, std::size_t count, unsigned* next_tile,
                          State* states, bool inclusive, bool aligned) {
  __shared__ unsigned warp_sums[kWarps];
  __shared__ unsigned tile_of_block;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  // Thread blocks take tiles in the order in which they start. So all earlier tiles are finished or in work.
  if (threadIdx.x == 0) tile_of_block = atomicAdd(next_tile, 1U);
  __syncthreads();
  const std::size_t tile = tile_of_block;
  const std::size_t first = tile * kTile + static_cast<std::size_t>(warp * kWarpValues + lane * 4);
  const bool whole = aligned && (tile + 1) * kTile <= count;

  uint4 v[kRounds];
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const std::size_t i = first + static_cast<std::size_t>(r * 128);
    if (whole) {
      v[r] = __ldcs(reinterpret_cast<const uint4*>(values + i));
    } else {
      v[r].x = i < count ? values[i] : 0;
      v[r].y = i + 1 < count ? values[i + 1] : 0;
      v[r].z = i + 2 < count ? values[i + 2] : 0;
      v[r].w = i + 3 < count ? values[i + 3] : 0;
    }
  }
  // scan_warp() replaces the lane's four values v[r] by their own prefix sums, for each r. It sets before[r] to the sum
  // of the warp's values before these four.
  unsigned before[kRounds];
  const unsigned carry = scan_warp(v, before, lane);
  if (lane == 0) warp_sums[warp] = carry;
  __syncthreads();
  unsigned before_warp = 0;
  unsigned total = 0;
#pragma unroll
  for (int k = 0; k < kWarps; ++k) {
    before_warp += k < warp ? warp_sums[k] : 0;
    total += warp_sums[k];
  }
  if (threadIdx.x == 0 && tile > 0) states[tile] = kSumOfTile | total;
  const unsigned before_tile = look_back(states, static_cast<std::int64_t>(tile));
  if (threadIdx.x == 0) states[tile] = kSumOfAll | (before_tile + total);
  before_warp += before_tile;
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    store_scanned(out, first + static_cast<std::size_t>(r * 128), count, whole, before_warp + before[r], v[r],
                  inclusive);
  }
}

}  // namespace

void scan_look_back(FilterQueue& queue, const std::uint32_t* values, std::uint32_t* out, std::size_t count,
                    bool inclusive) {
  const std::size_t tiles = divide_up(count, kTile);
  constexpr std::size_t kHead = 2;  // room for the number of the next tile
  const std::size_t bytes = (kHead + tiles) * sizeof(unsigned long long);
  auto* memory = static_cast<unsigned long long*>(queue.scratch(bytes));
  fill_async(memory, 0, bytes, queue.stream());
  launch(scan_look_back_kernel, {tiles, kThreads}, queue.stream(), values, out, count,
         reinterpret_cast<unsigned*>(memory), memory + kHead, inclusive, is_aligned(values, 16) && is_aligned(out, 16));
}

}  // namespace c63::cuda::kernels
