// Successive elimination by SAD and vector cost. It works like motion_eliminate_tile.cuh, but adds the vector's cost to
// the SAD of each compared candidate, and keeps a list of the best candidates.
//
// Let V, k and slack be as in motion_eliminate.cuh, and c the cost of a vector. Then 2^k V + c <= SAD + c + slack. So
// the bound V + floor(c / 2^k) is at most (SAD + c + slack) / 2^k. Let w be the worst SAD + c in the list. If a
// candidate's bound exceeds (w + slack) / 2^k, its SAD + c exceeds w. So it is not among the best.

#include "codec/search_window.h"
#include "cuda_me/kernels/cost_search.h"
#include "cuda_me/kernels/key_list.cuh"
#include "cuda_me/kernels/motion_eliminate_tile.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {
namespace {

struct CostSearchShared {
  EliminateShared tile;
  std::uint16_t column_costs[kSquare];  ///< vector costs of the columns of the pass's candidates
  std::uint16_t row_costs[kSquare];
  /// For each pair of rows of candidates, the smaller of the two rows' vector costs. A word holds the costs of two
  /// pairs: one in its lower half, and that of the pair `kBelow` rows further down in its upper half.
  std::uint32_t row_pair_costs[kPairs / 2];
  std::uint32_t best[kEliminateBlocks][kMaxFoundVectors];  ///< cost << 16 | (dy + 128) << 8 | (dx + 128), in order
};

/// One pass compares kSquare x kSquare candidates of a block. The first of them is the vector (first_dx, first_dy).
struct CostPass {
  const CostSearchShared& shared;
  int first_dx;
  int first_dy;

  [[nodiscard]] __device__ __forceinline__ std::uint32_t key(std::uint32_t sad, unsigned dx, unsigned dy) const {
    const std::uint32_t cost = sad + shared.column_costs[dx] + shared.row_costs[dy];
    return cost << 16 | static_cast<std::uint32_t>((first_dy + static_cast<int>(dy) + 128) << 8 |
                                                   (first_dx + static_cast<int>(dx) + 128));
  }
};

/// The largest bound that is stored. Larger ones are stored as this value.
constexpr std::uint32_t kMostBound = 1023;

/// A mask has a bit for each of a lane's pairs of candidates. Bit b, below 16, is for the pair that begins in row b.
/// Bit b + 16 is for the pair that begins in row b + kBelow.
struct WidePairs {  // for windows of 32x32 candidates, as in motion_eliminate.cuh
  static constexpr int kHalf = kPairs / 2;
  static constexpr int kBelow = 16;
  static constexpr unsigned kSpan = 32;
  [[nodiscard]] static __device__ __forceinline__ unsigned row(unsigned /*lane*/, unsigned p) { return 2 * p; }
  [[nodiscard]] static __device__ __forceinline__ unsigned column(unsigned lane, unsigned dy) { return pair_column(lane, dy); }
};
struct NarrowPairs {  // for windows of 16x16 candidates; four rows of words span half of the banks
  static constexpr int kHalf = 2;
  static constexpr int kBelow = 8;
  static constexpr unsigned kSpan = 16;
  static_assert(4 * kWordColumns % kWarp == kWarp / 2);
  [[nodiscard]] static __device__ __forceinline__ unsigned row(unsigned lane, unsigned p) { return 2 * p + lane / 16 * 4; }
  [[nodiscard]] static __device__ __forceinline__ unsigned column(unsigned lane, unsigned /*dy*/) { return lane % 16; }
};

template <typename Pairs>
[[nodiscard]] __device__ __forceinline__ unsigned row_of_bit(unsigned bit) {
  return bit % 16 + bit / 16 * static_cast<unsigned>(Pairs::kBelow);
}

/// A mask of the lane's pairs that have at least one allowed candidate.
template <typename Pairs>
[[nodiscard]] __device__ __forceinline__ std::uint32_t allowed_pairs(const AllowedCandidates& allowed, unsigned lane) {
  std::uint32_t bits = 0;
#pragma unroll
  for (unsigned p = 0; p < Pairs::kHalf; ++p) {
    const unsigned row = Pairs::row(lane, p);
    if (!allowed.has_column(Pairs::column(lane, row))) continue;
    if (allowed.has_row(row) || allowed.has_row(row + 1)) bits |= 1U << row;
    const unsigned below = row + Pairs::kBelow;
    if (allowed.has_row(below) || allowed.has_row(below + 1)) bits |= 1U << (row + 16);
  }
  return bits;
}

/// Returns the vector costs that are added to the bounds in word p. Each half of the word is for a pair of candidates:
/// the smaller of their two costs, divided by 2^shift.
template <typename Pairs>
[[nodiscard]] __device__ __forceinline__ std::uint32_t pair_costs(const CostPass& pass, unsigned lane, unsigned p, int shift) {
  const unsigned row = Pairs::row(lane, p);
  const std::uint32_t both = pass.shared.column_costs[Pairs::column(lane, row)] * 0x10001U + pass.shared.row_pair_costs[row / 2];
  return both >> shift & (0xFFFFU >> shift) * 0x10001U;
}

/// Computes the costs of the two candidates of a pair (motion_eliminate.cuh). Adds those candidates that are allowed to
/// the list.
template <typename Pairs, bool kAll, int kCount>
__device__ __forceinline__ void add_pair(KeyList<kCount>& list, const CostPass& pass, const std::uint32_t* words,
                                         const uint4 (&current)[kBlockSize / 2], const AllowedCandidates& allowed,
                                         unsigned lane, unsigned dy) {
  const unsigned dx = Pairs::column(lane, dy);
  const PairSads sads = pair_sads(words + dy * kWordColumns + dx, current);
  if (!kAll && !allowed.has_column(dx)) return;
  if (kAll || allowed.has_row(dy)) list.insert(pass.key(sads.upper, dx, dy));
  if (kAll || allowed.has_row(dy + 1)) list.insert(pass.key(sads.lower, dx, dy + 1));
}

/// Adds the best candidates of a block in this pass to the lists of the lanes.
template <typename Pairs, bool kAll, int kCount>
__device__ __forceinline__ void eliminate_by_cost(KeyList<kCount>& list, const CostPass& pass, const EliminateBlock& block) {
  const AllowedCandidates& allowed = block.allowed;
  constexpr int kHalf = Pairs::kHalf;
  const unsigned lane = threadIdx.x % kWarp;
  std::uint32_t bounds[kHalf];
  MostPromising promising;
#pragma unroll
  for (int p = 0; p < kHalf; ++p) {
    const unsigned row = Pairs::row(lane, static_cast<unsigned>(p));
    const std::uint32_t* from = block.sums + Pairs::column(lane, row) + row * kWordColumns;
    const std::uint32_t costs = pair_costs<Pairs>(pass, lane, static_cast<unsigned>(p), block.current.shift);
    bounds[p] = __viaddmin_u16x2(pair_bounds<Pairs::kBelow>(from, block.current.bytes), costs, kMostBound * 0x10001U);
    promising.add(p, bounds[p]);
  }
  uint4 current[kBlockSize / 2];
#pragma unroll
  for (int i = 0; i < kBlockSize / 2; ++i) current[i] = block.current.rows[i];

  // Each lane first computes the costs of its most promising pair of candidates. Take the best cost of each lane: the
  // kCount-th smallest of these is an upper limit for the kCount-th smallest cost of all candidates.
  const unsigned own_row = Pairs::row(lane, 0);  // bit 0 of `bounds` is this row
  const unsigned first = promising.bit() + own_row;
  add_pair<Pairs, kAll>(list, pass, block.words, current, allowed, lane, row_of_bit<Pairs>(first));
  std::uint32_t own = list.keys[0];
  std::uint32_t worst = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    worst = warp_min(own);
    if (own == worst) own = kNoCandidate;
  }
  const std::uint32_t limit = min(add_samples(block.current.slacks, worst >> 16) >> block.current.shift, kMostBound);
  std::uint32_t left = pairs_within(limit, bounds) << own_row;
  left &= ~(1U << first);
  if constexpr (!kAll) left &= allowed_pairs<Pairs>(allowed, lane);
  while (left != 0) {
    const auto bit = static_cast<unsigned>(31 - __clz(static_cast<int>(left)));
    left ^= 1U << bit;
    add_pair<Pairs, kAll>(list, pass, block.words, current, allowed, lane, row_of_bit<Pairs>(bit));
  }
  __syncwarp();
}

/// Stores the best candidates of a tile's blocks in `shared.best`.
template <typename Pairs, int kCount>
__device__ __forceinline__ void search_tile_by_cost(CostSearchShared& shared, const EliminateJob& job, const RateFrame& frame,
                                                    const EliminateTile& tile) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  go_through_tile(
      shared.tile, job, tile,
      [&](int column, int row) {
        return whole_search_window(column, row, job.job.width, job.job.height, job.job.range);
      },
      [&](bool first, int first_dx, int first_dy) {
        for (int i = lane; first && i < kEliminateRows * kMaxFoundVectors; i += kWarp) {
          shared.best[i / kMaxFoundVectors * kEliminateColumns + warp][i % kMaxFoundVectors] = kNoCandidate;
        }
        if (threadIdx.x < kSquare) {
          const int i = static_cast<int>(threadIdx.x);
          const auto cost = [&](int component) { return component_cost(frame.rate.sad_per_bit, component); };
          const auto of_pair = [&](int component) { return min(cost(component), cost(component + 1)); };
          shared.column_costs[i] = static_cast<std::uint16_t>(cost(first_dx + i));
          shared.row_costs[i] = static_cast<std::uint16_t>(cost(first_dy + i));
          if (i < kPairs / 2) {
            shared.row_pair_costs[i] = of_pair(first_dy + 2 * i + Pairs::kBelow) << 16 | of_pair(first_dy + 2 * i);
          }
        }
      },
      [&](const EliminateBlock& block, int first_dx, int first_dy) {
        const CostPass pass{shared, first_dx, first_dy};
        KeyList<kCount> list;
        if (lane == 0) {  // the best of the earlier passes
#pragma unroll
          for (int i = 0; i < kCount; ++i) list.keys[i] = shared.best[block.index][i];
        }
        if (block.allowed.width == Pairs::kSpan && block.allowed.height == Pairs::kSpan) {
          eliminate_by_cost<Pairs, true>(list, pass, block);
        } else {
          eliminate_by_cost<Pairs, false>(list, pass, block);
        }
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const std::uint32_t best = list.take_smallest();
          if (lane == 0) shared.best[block.index][i] = best;
        }
        __syncwarp();
      });
}

/// Writes the found vectors; each warp writes its column of the tile.
template <int kCount>
__device__ __forceinline__ void store_found(const CostSearchShared& shared, const EliminateJob& job, const RateFrame& frame,
                                            const EliminateTile& tile, MotionVector* found, std::uint16_t* found_costs) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int column = tile.column + warp;
  const int columns = job.job.width / kBlockSize;
  if (column >= columns) return;
  const int count = max(1, frame.rate.found_vectors);
  for (int i = static_cast<int>(threadIdx.x) % kWarp; i < tile.rows * kCount; i += kWarp) {
    const int place = i % kCount;
    if (place >= count) continue;
    const int r = i / kCount;
    const std::uint32_t* const best = shared.best[r * kEliminateColumns + warp];
    int last = place;
    while (best[last] == kNoCandidate) --last;  // if too few were found, repeats the last one
    const std::size_t block = static_cast<std::size_t>(tile.row + r) * columns + column;
    found[block * kMaxFoundVectors + place] = {static_cast<std::int8_t>(static_cast<int>(best[last] & 0xFFU) - 128),
                                               static_cast<std::int8_t>(static_cast<int>(best[last] >> 8 & 0xFFU) - 128)};
    if (place == 0) found_costs[block] = static_cast<std::uint16_t>(best[0] >> 16);
  }
}

/// The number of tiles of a plane, per row and in all.
struct TileCount {
  int columns;
  int all;
};
__host__ __device__ inline TileCount tiles_of(const FrameLayout& layout, int plane) {
  const int rows = layout.mcus / layout.mcu_columns * (plane == 0 ? 2 : 1);
  const int columns = (layout.columns[plane] + kEliminateColumns - 1) / kEliminateColumns;
  return {columns, columns * ((rows + kEliminateRows - 1) / kEliminateRows)};
}

template <int kCount>
__global__ void __launch_bounds__(kEliminateThreads, kEliminateResident)
    cost_search_eliminate_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames, int luma_range) {
  __shared__ CostSearchShared shared;
  const RateFrame& frame = frames[blockIdx.y];
  if (frame.job.reference == nullptr) return;
  int tile = static_cast<int>(blockIdx.x);
  int p = 0;
  for (; tile >= tiles_of(layout, p).all; ++p) tile -= tiles_of(layout, p).all;
  const PlaneGeometry plane = plane_of(layout, p);
  EliminateJob job;
  job.job.current = frame.job.current + layout.offset[p];
  job.job.reference = frame.job.reference + layout.offset[p];
  job.job.current_pitch = job.job.reference_pitch = plane.width;
  job.job.width = plane.width;
  job.job.height = plane.height;
  job.job.range = plane_search_range(luma_range, p);
  job.tile_columns = tiles_of(layout, p).columns;
  job.words = true;
  const auto first = static_cast<std::size_t>(layout.first_block[p]);
  MotionVector* const found = frame.scratch.found + first * kMaxFoundVectors;
  std::uint16_t* const found_costs = frame.scratch.found_costs + first;
  const EliminateTile place(job, tile);
  if (job.job.range <= static_cast<int>(NarrowPairs::kSpan) / 2) {
    search_tile_by_cost<NarrowPairs, kCount>(shared, job, frame, place);
  } else {
    search_tile_by_cost<WidePairs, kCount>(shared, job, frame, place);
  }
  store_found<kCount>(shared, job, frame, place, found, found_costs);
}

}  // namespace

void enqueue_cost_search_eliminate(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (!group.inter) return;
  const Range range("cost search");
  const auto kernel = group.found_vectors <= 1   ? cost_search_eliminate_kernel<1>
                      : group.found_vectors <= 2 ? cost_search_eliminate_kernel<2>
                      : group.found_vectors <= 4 ? cost_search_eliminate_kernel<4>
                                                 : cost_search_eliminate_kernel<kMaxFoundVectors>;
  int tiles = 0;
  for (int p = 0; p < kPlanes; ++p) tiles += tiles_of(layout, p).all;
  launch("cost_search_eliminate", kernel,
         {dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(group.count)), dim3(kEliminateThreads)}, stream, layout,
         group.frames, group.range);
}

}  // namespace c63::cuda
