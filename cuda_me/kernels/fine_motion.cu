// The search of true motion (c63/fine_motion.h). A warp works on one block, and its lanes share the candidates. The
// arithmetic is that of the CPU (decide/fine_motion.h).

#include <algorithm>
#include <array>

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/kernels/fine_motion.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

constexpr int kFineWarps = 4;  ///< of a thread block
constexpr int kFineThreads = kFineWarps * kWarp;
/// The samples around a block that its fractions use: one to the left and above, one to the right and below.
constexpr int kPatchRows = kBlockSize + 2;

/// Jobs as a kernel's parameter.
template <typename Job>
struct FineBatch {
  std::array<Job, kFineJobs> jobs;
};

/// Calls body(batch, count) with at most kFineJobs jobs at a time.
template <typename Job, typename Body>
void for_each_batch(std::span<const Job> jobs, const Body& body) {
  for (std::size_t first = 0; first < jobs.size(); first += kFineJobs) {
    const std::span<const Job> some = jobs.subspan(first, std::min(kFineJobs, jobs.size() - first));
    FineBatch<Job> batch{};
    std::ranges::copy(some, batch.jobs.begin());
    body(batch, some.size());
  }
}

/// The shape of a launch with a warp for each block, or for several, of each job.
LaunchShape warp_for_each_block(const FineGrid& grid, std::size_t jobs, int blocks_of_warp = 1) {
  return {{divide_up(grid.blocks(), kFineWarps * blocks_of_warp), 1, jobs}, {kWarp, kFineWarps}};
}
/// The index of this warp's block; it may be beyond the grid.
__device__ int block_of_warp() { return static_cast<int>(blockIdx.x) * kFineWarps + static_cast<int>(threadIdx.y); }

__device__ std::uint32_t sad_of_parts(const FineJob& job, const FineBlock& block, FineVector v) {
  std::uint32_t sad = 0;
  for (int y = 0; y < block.height; ++y) {
    const std::uint8_t* const a = job.current + (block.y + y) * job.current_pitch + block.x;
    const std::uint8_t* const b = job.reference + (block.y + v.y + y) * job.reference_pitch + block.x + v.x;
    for (int x = 0; x < block.width; x += kBlockSize) {
      const uint2 own = load_eight(a + x);
      const uint2 other = load_eight(b + x);
      sad = absdiff4_add(own.x, other.x, absdiff4_add(own.y, other.y, sad));
    }
  }
  return sad;
}

/// Returns the first index of the least cost. cost_of(i) is kNoCandidate if there is no candidate i. The whole warp takes part.
template <typename CostOf>
__device__ std::uint32_t first_of_least(int count, const CostOf& cost_of) {
  std::uint32_t least = kNoCandidate;
  std::uint32_t index = kNoCandidate;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kWarp) {
    const std::uint32_t cost = cost_of(i);
    if (cost >= least) continue;
    least = cost;
    index = static_cast<std::uint32_t>(i);
  }
  return warp_min(least == warp_min(least) ? index : kNoCandidate);
}

__global__ void halve_kernel(const __grid_constant__ FineBatch<FineHalving> batch) {
  const FineHalving& job = batch.jobs[blockIdx.z / 2];
  const bool is_current = blockIdx.z % 2 == 0;
  const FineGrid& grid = job.from.grid;
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= half_side(grid.width) || y >= half_side(grid.height)) return;
  const std::uint8_t* const from = is_current ? job.from.current : job.from.reference;
  const std::ptrdiff_t pitch = is_current ? job.from.current_pitch : job.from.reference_pitch;
  const std::uint8_t* const a = from + min(2 * y, grid.height - 1) * pitch;
  const std::uint8_t* const b = from + min(2 * y + 1, grid.height - 1) * pitch;
  const int left = min(2 * x, grid.width - 1);
  const int right = min(2 * x + 1, grid.width - 1);
  (is_current ? job.current : job.reference)[y * job.pitch + x] =
      static_cast<std::uint8_t>((a[left] + a[right] + b[left] + b[right] + 2) >> 2);
}

__global__ void __launch_bounds__(kFineThreads) take_vectors_kernel(const __grid_constant__ FineBatch<FineExact> batch) {
  const FineExact& exact = batch.jobs[blockIdx.z];
  const int index = static_cast<int>(blockIdx.x) * kFineThreads + static_cast<int>(threadIdx.x);
  if (index >= exact.job.grid.blocks()) return;
  const std::uint32_t zero = sad_of_parts(exact.job, exact.job.grid.block(index), {});
  const MotionVector found = zero <= exact.sads[index] ? MotionVector{} : exact.vectors[index];
  exact.job.vectors[index] = {found.x, found.y};
}

__global__ void __launch_bounds__(kFineThreads) search_blocks_kernel(const __grid_constant__ FineBatch<FineJob> batch, int range) {
  const FineJob& job = batch.jobs[blockIdx.z];
  const int index = block_of_warp();
  if (index >= job.grid.blocks()) return;
  const FineBlock block = job.grid.block(index);
  const SearchWindow window = block.window(range, job.grid.width, job.grid.height);
  const int width = window.right - window.left;
  const int candidates = window.empty() ? 0 : width * (window.bottom - window.top);
  const auto vector_of = [&](int i) {
    if (i == 0) return FineVector{};  // wins ties
    return FineVector{static_cast<std::int16_t>(window.left + (i - 1) % width - block.x),
                      static_cast<std::int16_t>(window.top + (i - 1) / width - block.y)};
  };
  const std::uint32_t best = first_of_least(candidates + 1, [&](int i) { return sad_of_parts(job, block, vector_of(i)); });
  if (threadIdx.x == 0) job.vectors[index] = vector_of(static_cast<int>(best));
}

__global__ void __launch_bounds__(kFineThreads) refine_vectors_kernel(const __grid_constant__ FineBatch<FineStep> batch, int range) {
  const FineStep& step = batch.jobs[blockIdx.z];
  const FineJob& job = step.job;
  const int index = block_of_warp();
  if (index >= job.grid.blocks()) return;
  const FineBlock block = job.grid.block(index);
  constexpr int kEach = kRefineSide * kRefineSide;
  static_assert(kEach <= kWarp);
  const int lane = static_cast<int>(threadIdx.x);
  FineVector seeds[kRefineSeeds];
  FineVector best{};
  std::uint32_t least = kNoCandidate;
#pragma unroll
  for (int i = 0; i < kRefineSeeds; ++i) {
    seeds[i] = refine_seed(i, block, job.grid, step.from_grid, step.from, range);
    bool is_new = true;  // for all lanes
    for (int j = 0; j < i; ++j) is_new = is_new && !(seeds[j] == seeds[i]);
    if (!is_new) continue;
    const FineVector v = refine_candidate(seeds[i], lane);
    const bool is_candidate = lane < kEach && block.is_legal(v, job.grid.width, job.grid.height) && is_in_range(v, range);
    const std::uint32_t sad = is_candidate ? sad_of_parts(job, block, v) : kNoCandidate;
    const std::uint32_t key = warp_min(is_candidate ? sad << 5 | static_cast<std::uint32_t>(lane) : kNoCandidate);
    if (key >> 5 >= least) continue;
    least = key >> 5;
    best = refine_candidate(seeds[i], static_cast<int>(key & 31));
  }
  if (lane == 0) job.vectors[index] = best;
}

struct Least {
  using Partial = std::uint32_t;
  __device__ static Partial combine(Partial a, Partial b) { return min(a, b); }
};

/// Half a warp works on a block.
__global__ void __launch_bounds__(kFineThreads) smooth_vectors_kernel(const __grid_constant__ FineBatch<FineStep> batch, int weight) {
  const FineStep& step = batch.jobs[blockIdx.z];
  const FineJob& job = step.job;
  constexpr int kLanes = kWarp / 2;
  static_assert(kSmoothCandidates <= kLanes);
  const int candidate = static_cast<int>(threadIdx.x) % kLanes;
  const int index = 2 * block_of_warp() + static_cast<int>(threadIdx.x) / kLanes;
  const bool has_block = index < job.grid.blocks();
  const int columns = job.grid.columns();
  const int column = index % columns;
  const int row = index / columns;
  std::uint32_t key = kNoCandidate;
  FineVector v{};
  if (has_block && candidate < kSmoothCandidates) {
    const FineBlock block = job.grid.block(index);
    const int own_weight = weight * (block.width / kBlockSize) * (block.height / kBlockSize);
    v = smooth_candidate(candidate, column, row, job.grid, step.from);
    if (block.is_legal(v, job.grid.width, job.grid.height)) {
      const auto distance = static_cast<std::uint32_t>(own_weight * smooth_distance(v, column, row, job.grid, step.from));
      key = (sad_of_parts(job, block, v) + distance) << 4 | static_cast<std::uint32_t>(candidate);
    }
  }
  if (reduce_lanes<Least, kLanes>(key) == key && key != kNoCandidate) job.vectors[index] = v;
}

__global__ void interpolate_kernel(const __grid_constant__ FineBatch<FineFinish> batch) {
  const FineFinish& finish = batch.jobs[blockIdx.z];
  const FineJob& job = finish.job;
  const FineHalves layout{job.grid.width, job.grid.height};
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) - kHalfMargin;
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) - kHalfMargin;
  if (x >= job.grid.width + kHalfMargin || y >= job.grid.height + kHalfMargin) return;
  int rows[6];     // filtered from left to right, for the six rows around the sample
  int columns[6];  // the samples above and below
#pragma unroll
  for (int j = 0; j < 6; ++j) {
    const std::uint8_t* const row = job.reference + clamped(y + j - 2, 0, job.grid.height - 1) * job.reference_pitch;
    const auto at = [&](int i) { return static_cast<int>(row[clamped(x + i - 2, 0, job.grid.width - 1)]); };
    rows[j] = six_taps(at(0), at(1), at(2), at(3), at(4), at(5));
    columns[j] = at(2);
  }
  std::uint8_t* const to = finish.halves + layout.offset(0, x, y);
  to[0] = static_cast<std::uint8_t>(columns[2]);
  to[layout.plane_bytes()] = rounded_sample(rows[2], 5);
  to[2 * layout.plane_bytes()] = rounded_sample(six_taps(columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]), 5);
  to[3 * layout.plane_bytes()] = rounded_sample(six_taps(rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]), 10);
}

/// The interpolated samples around an 8x8 block at its whole vector, from one sample left of it and above it.
struct FinePatch {
  uint4 rows[4][kPatchRows];  ///< ten samples, and six bytes that do not matter
};

/// Loads the patch of the 8x8 block whose whole vector points to (x, y). The whole warp takes part.
__device__ void load_patch(FinePatch& patch, const std::uint8_t* halves, const FineHalves& layout, int x, int y) {
  __syncwarp();  // other lanes may still read the previous patch
  for (int i = static_cast<int>(threadIdx.x); i < 4 * kPatchRows; i += kWarp) {
    const int plane = i / kPatchRows;
    const int row = i % kPatchRows;
    const std::uint8_t* const from = halves + layout.offset(plane, x - 1, y - 1 + row);
    const uint2 eight = load_eight(from);
    patch.rows[plane][row] = {eight.x, eight.y, static_cast<std::uint32_t>(from[8] | from[9] << 8), 0};
  }
  __syncwarp();
}

/// Returns the SAD of the 8x8 block `current` at a fraction, in quarter samples.
__device__ std::uint32_t sad_of_fraction(const FinePatch& patch, const uint2 (&current)[kBlockSize], int x, int y) {
  const HalfPoint a = quarter_point(x, y, false);
  const HalfPoint b = quarter_point(x, y, true);
  const int a_shift = 8 * (a.x + 1);
  const int b_shift = 8 * (b.x + 1);
  std::uint32_t sad = 0;
#pragma unroll
  for (int row = 0; row < kBlockSize; ++row) {
    const uint4 p = patch.rows[a.plane][row + a.y + 1];
    const uint4 q = patch.rows[b.plane][row + b.y + 1];
    const std::uint32_t left = __vavgu4(__funnelshift_r(p.x, p.y, a_shift), __funnelshift_r(q.x, q.y, b_shift));
    const std::uint32_t right = __vavgu4(__funnelshift_r(p.y, p.z, a_shift), __funnelshift_r(q.y, q.z, b_shift));
    sad = absdiff4_add(current[row].x, left, absdiff4_add(current[row].y, right, sad));
  }
  return sad;
}

/// Returns the vector after the step along the gradient, in all lanes. The whole warp takes part.
__device__ FineVector step_along_gradient(const FineFinish& finish, const FineHalves& layout, const FineBlock& block, FineVector v) {
  const FineJob& job = finish.job;
  const SearchWindow window = gradient_window(block, job.grid.width, job.grid.height);
  const auto samples_at = [&](bool second) {
    const HalfPoint p = quarter_point(v.x / (kFineUnits / 4), v.y / (kFineUnits / 4), second);
    return finish.halves + layout.offset(p.plane, p.x, p.y);
  };
  const std::uint8_t* const a = samples_at(false);
  const std::uint8_t* const b = samples_at(true);
  constexpr int kLanesOfRow = 16;  // the width of the window of an 8x8 block
  const int lane = static_cast<int>(threadIdx.x);
  GradientSums sums;
  for (int y = window.top + lane / kLanesOfRow; y < window.bottom; y += kWarp / kLanesOfRow) {
    for (int x = window.left + lane % kLanesOfRow; x < window.right; x += kLanesOfRow) {
      const std::uint8_t* const at = job.current + y * job.current_pitch + x;
      const std::ptrdiff_t place = y * layout.pitch() + x;
      sums.add(at[1] - at[-1], at[job.current_pitch] - at[-job.current_pitch], at[0] - mean_sample(a[place], b[place]));
    }
  }
  const auto total = [](std::int32_t value) { return reduce_lanes<Adding<std::int32_t>>(value); };
  return gradient_step({total(sums.xx), total(sums.xy), total(sums.yy), total(sums.xt), total(sums.yt)}, v);
}

__global__ void __launch_bounds__(kFineThreads) find_fractions_kernel(const __grid_constant__ FineBatch<FineFinish> batch, int fraction) {
  __shared__ FinePatch patches[kFineWarps];
  FinePatch& patch = patches[threadIdx.y];
  const FineFinish& finish = batch.jobs[blockIdx.z];
  const FineJob& job = finish.job;
  const int index = block_of_warp();
  if (index >= job.grid.blocks()) return;
  const FineHalves layout{job.grid.width, job.grid.height};
  const FineBlock block = job.grid.block(index);
  const FineVector whole = job.vectors[index];
  const int lane = static_cast<int>(threadIdx.x);
  const int step = fraction == 1 ? 4 : fraction == 2 ? 2 : 1;
  // Calls body(x, y, current) for each 8x8 part of the block, with its patch loaded.
  const auto for_each_part = [&](const auto& body) {
    for (int y = block.y; y < block.y + block.height; y += kBlockSize) {
      for (int x = block.x; x < block.x + block.width; x += kBlockSize) {
        load_patch(patch, finish.halves, layout, x + whole.x, y + whole.y);
        uint2 current[kBlockSize];
#pragma unroll
        for (int row = 0; row < kBlockSize; ++row) current[row] = load_eight(job.current + (y + row) * job.current_pitch + x);
        body(x, y, current);
      }
    }
  };
  constexpr int kRounds = (kFractions + kWarp - 1) / kWarp;
  const auto place = [lane](int round) { return lane + round * kWarp; };
  const auto x_of = [](int i) { return i % kFractionSide - kFractionReach; };
  const auto y_of = [](int i) { return i / kFractionSide - kFractionReach; };
  const auto is_tried = [&](int i) { return i < kFractions && x_of(i) % step == 0 && y_of(i) % step == 0; };
  std::uint32_t sads[kRounds] = {};
  for_each_part([&](int, int, const uint2(&current)[kBlockSize]) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const int i = place(round);
      if (is_tried(i)) sads[round] += sad_of_fraction(patch, current, x_of(i), y_of(i));
    }
  });
  std::uint32_t key = kNoCandidate;
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int i = place(round);
    if (is_tried(i)) key = min(key, fraction_key(sads[round], x_of(i), y_of(i)));
  }
  key = warp_min(key);
  FineVector found = fraction_of_key(key, whole);
  if (fraction == kFineUnits) found = step_along_gradient(finish, layout, block, found);
  const int columns = job.grid.width / kBlockSize;
  const auto store = [&](int x, int y, std::uint32_t sad) {
    const int at = y / kBlockSize * columns + x / kBlockSize;
    finish.vectors[at] = found;
    if (finish.sads != nullptr) finish.sads[at] = static_cast<std::uint16_t>(sad);
  };
  if (block.width == kBlockSize && block.height == kBlockSize) {
    if (lane == 0) store(block.x, block.y, key >> 9);
    return;
  }
  for_each_part([&](int x, int y, const uint2(&current)[kBlockSize]) {
    const int best = static_cast<int>(key & 63);
    if (lane == 0) store(x, y, sad_of_fraction(patch, current, x_of(best), y_of(best)));
  });
}

__global__ void compare_kernel(FineGrid grid, const FineVector* forward, const FineVector* backward, int most, std::uint8_t* agrees) {
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index >= grid.blocks()) return;
  agrees[index] = vectors_agree(index % grid.columns(), index / grid.columns(), grid, forward, backward, most);
}

/// The shape of a launch with a thread for each sample of planes.
LaunchShape thread_for_each_sample(int width, int height, std::size_t planes) {
  constexpr int kTileRows = 8;
  return {{divide_up(width, kWarp), divide_up(height, kTileRows), planes}, {kWarp, kTileRows}};
}

}  // namespace

void halve_planes(std::span<const FineHalving> jobs, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FineBatch<FineHalving>& batch, std::size_t count) {
    const FineGrid& grid = batch.jobs[0].from.grid;
    launch(halve_kernel, thread_for_each_sample(half_side(grid.width), half_side(grid.height), 2 * count), stream, batch);
  });
}

void search_blocks(std::span<const FineJob> jobs, int range, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FineBatch<FineJob>& batch, std::size_t count) {
    launch(search_blocks_kernel, warp_for_each_block(batch.jobs[0].grid, count), stream, batch, range);
  });
}

void take_vectors(std::span<const FineExact> jobs, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FineBatch<FineExact>& batch, std::size_t count) {
    launch(take_vectors_kernel, {{divide_up(batch.jobs[0].job.grid.blocks(), kFineThreads), 1, count}, kFineThreads}, stream, batch);
  });
}

void refine_vectors(std::span<const FineStep> jobs, int range, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FineBatch<FineStep>& batch, std::size_t count) {
    launch(refine_vectors_kernel, warp_for_each_block(batch.jobs[0].job.grid, count), stream, batch, range);
  });
}

void smooth_vectors(std::span<const FineStep> jobs, int weight, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FineBatch<FineStep>& batch, std::size_t count) {
    launch(smooth_vectors_kernel, warp_for_each_block(batch.jobs[0].job.grid, count, 2), stream, batch, weight);
  });
}

void interpolate_halves(std::span<const FineFinish> jobs, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FineBatch<FineFinish>& batch, std::size_t count) {
    const FineGrid& grid = batch.jobs[0].job.grid;
    launch(interpolate_kernel, thread_for_each_sample(grid.width + 2 * kHalfMargin, grid.height + 2 * kHalfMargin, count), stream, batch);
  });
}

void find_fractions(std::span<const FineFinish> jobs, int fraction, cudaStream_t stream) {
  for_each_batch(jobs, [&](const FineBatch<FineFinish>& batch, std::size_t count) {
    launch(find_fractions_kernel, warp_for_each_block(batch.jobs[0].job.grid, count), stream, batch, fraction);
  });
}

void compare_fields(const FineGrid& grid, const FineVector* forward, const FineVector* backward, int most, std::uint8_t* agrees,
                    cudaStream_t stream) {
  constexpr int kEach = 256;
  launch(compare_kernel, {divide_up(grid.blocks(), kEach), kEach}, stream, grid, forward, backward, most, agrees);
}

}  // namespace c63::cuda
