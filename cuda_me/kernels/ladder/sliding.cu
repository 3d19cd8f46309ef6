// Full search by one warp per block. A lane owns a column of candidates and moves down it. Each reference row is loaded
// and aligned only once: its differences are added at once to all eight candidates that contain the row. The SADs of
// these candidates rotate through eight registers.

#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/kernels/ladder/window.cuh"

namespace c63::cuda {
namespace {

__global__ void __launch_bounds__(kWarp) motion_sliding(const __grid_constant__ MotionBatch batch) {
  extern __shared__ __align__(16) std::uint8_t samples[];
  __shared__ std::uint32_t current_words[kBlockSamples / 4];

  const MotionJob& job = batch.jobs[blockIdx.z];
  const int column = static_cast<int>(blockIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (column >= job.width / kBlockSize || row >= job.height / kBlockSize) return;
  const int lane = static_cast<int>(threadIdx.x);

  const SearchWindow window = search_window(column, row, job.width, job.height, job.range);
  const int width = window.right - window.left;
  const int height = window.empty() ? 0 : window.bottom - window.top;
  const int pitch = window_pitch(job.range);
  if (height > 0) load_window(samples, job, window, pitch);
  load_current(current_words, job, column, row);
  __syncwarp();

  std::uint32_t current[kBlockSamples / 4];
#pragma unroll
  for (int i = 0; i < kBlockSamples / 4; ++i) current[i] = current_words[i];

  std::uint32_t best = kNoCandidate;
  for (int x = lane; x < width && height > 0; x += kWarp) {
    const unsigned shift = static_cast<unsigned>(x & 3) * 8;
    const auto* words = reinterpret_cast<const std::uint32_t*>(samples + (x & ~3));
    std::uint32_t sums[kBlockSize] = {};  // sums[y % 8] belongs to the candidate in row y
    const int rows = height + kBlockSize - 1;
    for (int first = 0; first < rows; first += kBlockSize) {
#pragma unroll
      for (int phase = 0; phase < kBlockSize; ++phase) {
        const int y = first + phase;
        if (y >= rows) break;
        const std::uint32_t left = __funnelshift_r(words[0], words[1], shift);
        const std::uint32_t right = __funnelshift_r(words[1], words[2], shift);
        words += pitch / 4;
#pragma unroll
        for (int i = 0; i < kBlockSize; ++i) {  // this row is row i of the candidate that starts i rows above it
          std::uint32_t& sum = sums[(phase - i) & 7];
          sum = absdiff4_add(left, current[2 * i], sum);
          sum = absdiff4_add(right, current[2 * i + 1], sum);
        }
        std::uint32_t& done = sums[(phase + 1) & 7];
        const int candidate = y - (kBlockSize - 1);
        if (candidate >= 0) {
          best = min(best, candidate_key(done, static_cast<std::uint32_t>(candidate * width + x)));
        }
        done = 0;
      }
    }
  }
  best = warp_min(best);
  if (lane == 0) store_best(job, column, row, window, best);
}

}  // namespace

std::unique_ptr<MotionSearch> make_sliding_search() {
  return std::make_unique<BlockwiseSearch>("motion_sliding", motion_sliding, kWarp, window_bytes);
}

}  // namespace c63::cuda
