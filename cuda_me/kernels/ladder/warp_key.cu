// Like packed.cu, but reduction instructions find the minimum: one in each of the eight warps, then one for the eight
// results. They replace a tree with a barrier at each of its eight levels. As in the other kernels, SAD and raster
// index form one number, so the first of equal SADs needs no second comparison.

#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/kernels/ladder/window.cuh"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) motion_warp_key(const __grid_constant__ MotionBatch batch) {
  extern __shared__ __align__(16) std::uint8_t samples[];
  __shared__ std::uint32_t current[kBlockSamples / 4];
  __shared__ std::uint32_t keys[kThreads / kWarp];

  const MotionJob& job = batch.jobs[blockIdx.z];
  const int column = static_cast<int>(blockIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (column >= job.width / kBlockSize || row >= job.height / kBlockSize) return;
  const int thread = static_cast<int>(threadIdx.x);

  const SearchWindow window = search_window(column, row, job.width, job.height, job.range);
  const int width = window.right - window.left;
  const int candidates = window.empty() ? 0 : width * (window.bottom - window.top);
  const int pitch = window_pitch(job.range);
  if (candidates > 0) load_window(samples, job, window, pitch);
  load_current(current, job, column, row);
  __syncthreads();

  std::uint32_t best = kNoCandidate;
  for (int index = thread; index < candidates; index += kThreads) {
    const std::uint32_t sad = packed_sad(samples, pitch, index % width, index / width, current);
    best = min(best, candidate_key(sad, static_cast<std::uint32_t>(index)));
  }
  best = warp_min(best);
  if (thread % kWarp == 0) keys[thread / kWarp] = best;
  __syncthreads();
  if (thread < kWarp) {
    best = warp_min(thread < kThreads / kWarp ? keys[thread] : kNoCandidate);
    if (thread == 0) store_best(job, column, row, window, best);
  }
}

}  // namespace

std::unique_ptr<MotionSearch> make_warp_key_search() {
  return std::make_unique<BlockwiseSearch>("motion_warp_key", motion_warp_key, kThreads, window_bytes);
}

}  // namespace c63::cuda
