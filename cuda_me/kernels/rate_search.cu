// The search of frames that are decided by rate: successive elimination by SAD and vector cost. It keeps a list of the
// best candidates of each block.

#include "codec/search_window.h"
#include "cuda_me/kernels/motion_eliminate_tile.cuh"
#include "cuda_me/kernels/rate_common.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

/// The vector costs of a pass's candidates, in shared memory. A cost is the sum of those of a column and a row.
struct PassCosts {
  std::uint16_t columns[kSquare];
  std::uint16_t rows[kSquare];
  /// For each pair of rows of candidates, the smaller of the two rows' costs. A word holds the costs of two pairs: one in
  /// its lower half, and that of the pair `kBelow` rows further down in its upper half.
  std::uint32_t row_pairs[kPairs / 2];
};

/// The Cost of eliminate() by which each vector costs its bits, in units of SAD.
struct VectorCost {
  static constexpr bool kCosts = true;
  const PassCosts& costs;
  std::uint32_t first;  ///< key_of_vector() of the pass's first candidate

  /// Adds the vector costs to the bounds in word p. Each half of the word is for a pair of candidates. The smaller of
  /// their two costs is added, divided by 2^shift.
  template <typename Pairs>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t add_to(std::uint32_t bounds, unsigned lane, unsigned p,
                                                                int shift) const {
    const unsigned row = Pairs::row(lane, p);
    const std::uint32_t both = costs.columns[Pairs::column(lane, row)] * 0x10001U + costs.row_pairs[row / 2];
    return __viaddmin_u16x2(bounds, both >> shift & (0xFFFFU >> shift) * 0x10001U, kMostBound * 0x10001U);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t key(std::uint32_t sad, unsigned dx, unsigned dy) const {
    return (sad + costs.columns[dx] + costs.rows[dy]) << 16 | (first + dy * 256 + dx);
  }
};

/// How search_tile() searches by SAD and vector cost.
template <typename Pairs>
struct ByCost {
  const MotionJob& job;
  PassCosts& costs;
  int sad_per_bit;

  [[nodiscard]] __device__ __forceinline__ SearchWindow window(int column, int row) const {
    return whole_search_window(column, row, job.width, job.height, job.range);
  }
  __device__ __forceinline__ void begin_pass(int first_dx, int first_dy) const {
    if (threadIdx.x >= kSquare) return;
    const int i = static_cast<int>(threadIdx.x);
    const auto cost = [&](int component) { return component_cost(sad_per_bit, component); };
    const auto of_pair = [&](int component) { return min(cost(component), cost(component + 1)); };
    costs.columns[i] = static_cast<std::uint16_t>(cost(first_dx + i));
    costs.rows[i] = static_cast<std::uint16_t>(cost(first_dy + i));
    if (i < kPairs / 2) costs.row_pairs[i] = of_pair(first_dy + 2 * i + Pairs::kBelow) << 16 | of_pair(first_dy + 2 * i);
  }
  [[nodiscard]] __device__ __forceinline__ VectorCost cost(int first_dx, int first_dy) const {
    return {costs, key_of_vector(first_dx, first_dy)};
  }
};

/// Writes the found vectors; each warp writes its column of the tile.
template <int kCount>
__device__ __forceinline__ void store_found(const EliminateBest<kCount>& best, const EliminateJob& job, const RateFrame& frame,
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
    const std::uint32_t* const keys = best[r * kEliminateColumns + warp];
    int last = place;
    while (keys[last] == kNoCandidate) --last;  // if too few were found, repeats the last one
    const std::size_t block = static_cast<std::size_t>(tile.row + r) * columns + column;
    found[block * kMaxFoundVectors + place] = vector_of_key(keys[last]);
    if (place == 0) found_costs[block] = static_cast<std::uint16_t>(keys[0] >> 16);
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
    rate_search_kernel(const __grid_constant__ FrameLayout layout, const RateFrame* frames, int luma_range) {
  __shared__ EliminateShared shared;
  __shared__ EliminateBest<kCount> best;
  __shared__ PassCosts costs;
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
  const int sad_per_bit = frame.rate.sad_per_bit;
  if (job.job.range <= static_cast<int>(NarrowPairs::kSpan) / 2) {
    search_tile<NarrowPairs, kCount>(shared, best, job, place, ByCost<NarrowPairs>{job.job, costs, sad_per_bit});
  } else {
    search_tile<WidePairs, kCount>(shared, best, job, place, ByCost<WidePairs>{job.job, costs, sad_per_bit});
  }
  store_found<kCount>(best, job, frame, place, found, found_costs);
}

}  // namespace

void enqueue_search(const FrameLayout& layout, const RateGroup& group, cudaStream_t stream) {
  if (!group.inter) return;
  const auto kernel = group.found_vectors <= 1   ? rate_search_kernel<1>
                      : group.found_vectors <= 2 ? rate_search_kernel<2>
                      : group.found_vectors <= 4 ? rate_search_kernel<4>
                                                 : rate_search_kernel<kMaxFoundVectors>;
  int tiles = 0;
  for (int p = 0; p < kPlanes; ++p) tiles += tiles_of(layout, p).all;
  launch(kernel, {{tiles, group.count}, kEliminateThreads}, stream, layout, group.frames, group.range);
}

}  // namespace c63::cuda
