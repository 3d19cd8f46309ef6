// The parts of estimate_motion() that a plain search does not compute (see motion.h). A thread block works on
// one 8x8 block, and its threads share the candidates.

#include <algorithm>
#include <array>

#include "codec/geometry.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

constexpr int kRefineThreads = 128;
constexpr int kRefineJobs = 16;
constexpr int kRefineRowWords = kBlockSize / 4;
constexpr std::uint32_t kNoSecondSad = 65535;

struct RefineBatch {
  std::array<RefineJob, kRefineJobs> jobs;
};

struct RefineBlock {
  std::array<std::uint32_t, kRefineRowWords * kBlockSize> words;
};

__device__ std::uint32_t refine_sad(const RefineBlock& current, const MotionJob& job, int x, int y) {
  std::uint32_t sad = 0;
  const std::uint8_t* row = job.reference + y * job.reference_pitch + x;
#pragma unroll
  for (int i = 0; i < kBlockSize; ++i, row += job.reference_pitch) {
    const uint2 samples = load_eight(row);
    sad = absdiff4_add(current.words[static_cast<std::size_t>(kRefineRowWords * i)], samples.x, sad);
    sad = absdiff4_add(current.words[static_cast<std::size_t>(kRefineRowWords * i + 1)], samples.y, sad);
  }
  return sad;
}

/// The smallest value of the thread block. All threads get it.
__device__ std::uint32_t refine_block_min(std::uint32_t value, std::uint32_t* warps) {
  value = warp_min(value);
  __syncthreads();  // other threads may still read `warps`
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  std::uint32_t smallest = warps[0];
  for (int i = 1; i < kRefineThreads / kWarp; ++i) smallest = min(smallest, warps[i]);
  return smallest;
}

__global__ void __launch_bounds__(kRefineThreads)
    refine_motion_kernel(const __grid_constant__ RefineBatch batch, RefineSettings settings) {
  __shared__ std::uint32_t current_words[kRefineRowWords * kBlockSize];
  __shared__ std::uint32_t warps[kRefineThreads / kWarp];
  const RefineJob& wanted = batch.jobs[blockIdx.z];
  const MotionJob& job = wanted.motion;
  const int column = static_cast<int>(blockIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  const int x = column * kBlockSize;
  const int y = row * kBlockSize;
  const std::size_t block = static_cast<std::size_t>(row) * gridDim.x + column;
  const auto thread = static_cast<int>(threadIdx.x);

  if (thread < kBlockSize) {
    const uint2 samples = load_eight(job.current + (y + thread) * job.current_pitch + x);
    current_words[kRefineRowWords * thread] = samples.x;
    current_words[kRefineRowWords * thread + 1] = samples.y;
  }
  __syncthreads();
  RefineBlock current;
#pragma unroll
  for (int i = 0; i < kRefineRowWords * kBlockSize; ++i) current.words[static_cast<std::size_t>(i)] = current_words[i];

  const MotionVector centre = wanted.around != nullptr ? wanted.around[block] : MotionVector{};
  const SearchWindow window = search_window_around(column, row, job.width, job.height, job.range, centre.x, centre.y);
  const int width = window.right - window.left;
  const int candidates = window.empty() ? 0 : width * (window.bottom - window.top);
  const auto sad_of = [&](int i) { return refine_sad(current, job, window.left + i % width, window.top + i / width); };

  int best_x = x;
  int best_y = y;
  std::uint32_t sad = 0;
  if (wanted.around == nullptr) {
    const MotionVector found = job.vectors[block];
    best_x += found.x;
    best_y += found.y;
    sad = refine_sad(current, job, best_x, best_y);
  } else if (candidates == 0) {
    sad = refine_sad(current, job, x, y);
  } else {
    std::uint32_t key = kNoCandidate;
    for (int i = thread; i < candidates; i += kRefineThreads)
      key = min(key, candidate_key(sad_of(i), static_cast<std::uint32_t>(i)));
    key = refine_block_min(key, warps);
    const int index = static_cast<int>(key & 0xFFFFU);
    best_x = window.left + index % width;
    best_y = window.top + index / width;
    sad = key >> 16;
  }
  if (settings.zero_bias > 0) {
    const std::uint32_t zero = refine_sad(current, job, x, y);
    if (zero < sad + static_cast<std::uint32_t>(settings.zero_bias)) {
      best_x = x;
      best_y = y;
      sad = zero;
    }
  }
  if (wanted.seconds != nullptr) {
    std::uint32_t second = kNoSecondSad;
    for (int i = thread; i < candidates; i += kRefineThreads) {
      const int away_x = abs(window.left + i % width - best_x);
      const int away_y = abs(window.top + i / width - best_y);
      if (max(away_x, away_y) >= settings.second_distance) second = min(second, sad_of(i));
    }
    second = refine_block_min(second, warps);
    if (thread == 0) wanted.seconds[block] = static_cast<std::uint16_t>(second);
  }
  if (wanted.quarters != nullptr && thread < 4) {
    std::uint32_t quarter = 0;
    for (int i = 0; i < kBlockSize / 2; ++i) {
      const int line = thread / 2 * 4 + i;
      const uint2 samples = load_eight(job.reference + (best_y + line) * job.reference_pitch + best_x);
      quarter = absdiff4_add(current_words[kRefineRowWords * line + thread % 2],
                             thread % 2 == 0 ? samples.x : samples.y, quarter);
    }
    wanted.quarters[4 * block + thread] = static_cast<std::uint16_t>(quarter);
  }
  __syncthreads();  // all threads have read the found vector
  if (thread == 0) store_motion(job, column, row, best_x - x, best_y - y, sad);
}

}  // namespace

void refine_motion(std::span<const RefineJob> jobs, const RefineSettings& settings, cudaStream_t stream) {
  for (std::size_t first = 0; first < jobs.size(); first += kRefineJobs) {
    const std::span<const RefineJob> some =
        jobs.subspan(first, std::min<std::size_t>(kRefineJobs, jobs.size() - first));
    RefineBatch batch{};
    std::ranges::copy(some, batch.jobs.begin());
    const MotionJob& shape = some[0].motion;
    const LaunchShape grid{{shape.width / kBlockSize, shape.height / kBlockSize, some.size()}, kRefineThreads};
    launch(refine_motion_kernel, grid, stream, batch, settings);
  }
}

}  // namespace c63::cuda
