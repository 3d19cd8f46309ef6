// The same search as textbook.cu, but the reference window is copied once from global to shared memory.

#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/kernels/ladder/window.cuh"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) motion_shared_window(const __grid_constant__ MotionBatch batch) {
  extern __shared__ std::uint8_t samples[];
  __shared__ std::uint32_t current_words[kBlockSamples / 4];
  __shared__ std::uint32_t keys[kThreads];

  const MotionJob& job = batch.jobs[blockIdx.z];
  const int column = static_cast<int>(blockIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (column >= job.width / kBlockSize || row >= job.height / kBlockSize) return;

  const SearchWindow window = search_window(column, row, job.width, job.height, job.range);
  const int width = window.right - window.left;
  const int candidates = window.empty() ? 0 : width * (window.bottom - window.top);
  const int pitch = window_pitch(job.range);
  if (candidates > 0) load_window(samples, job, window, pitch);
  load_current(current_words, job, column, row);
  __syncthreads();

  const auto* current = reinterpret_cast<const std::uint8_t*>(current_words);
  std::uint32_t best = kNoCandidate;
  for (int index = static_cast<int>(threadIdx.x); index < candidates; index += kThreads) {
    const std::uint8_t* block = samples + index / width * pitch + index % width;
    std::uint32_t sad = 0;
    for (int y = 0; y < kBlockSize; ++y) {
      for (int x = 0; x < kBlockSize; ++x) {
        sad += static_cast<std::uint32_t>(abs(block[y * pitch + x] - current[y * kBlockSize + x]));
      }
    }
    best = min(best, candidate_key(sad, static_cast<std::uint32_t>(index)));
  }
  best = block_min_tree<kThreads>(keys, best);
  if (threadIdx.x == 0) store_best(job, column, row, window, best);
}

}  // namespace

std::unique_ptr<MotionSearch> make_shared_window_search() {
  return std::make_unique<BlockwiseSearch>("motion_shared_window", motion_shared_window, kThreads, window_bytes);
}

}  // namespace c63::cuda
