// The search as students first write it. A thread block takes an 8x8 block, and each thread a candidate. The current
// block is in shared memory. The reference is read byte by byte from global memory. A tree of comparisons finds the
// smallest SAD.

#include <algorithm>

#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

constexpr int kThreads = 1024;

/// The jobs of one launch. They are a kernel parameter, and blockIdx.z selects the job of a thread block.
struct MotionBatch {
  std::array<MotionJob, kBatchJobs> jobs;
};

__global__ void __launch_bounds__(kThreads) motion_textbook(const __grid_constant__ MotionBatch batch) {
  __shared__ std::uint8_t current[kBlockSamples];
  __shared__ std::uint32_t keys[kThreads];

  const MotionJob& job = batch.jobs[blockIdx.z];
  const int column = static_cast<int>(blockIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (column >= job.width / kBlockSize || row >= job.height / kBlockSize) return;
  const int thread = static_cast<int>(threadIdx.x);

  if (thread < kBlockSamples) {
    current[thread] = job.current[(row * kBlockSize + thread / kBlockSize) * job.current_pitch + column * kBlockSize +
                                  thread % kBlockSize];
  }
  __syncthreads();

  const SearchWindow window = search_window(column, row, job.width, job.height, job.range);
  const int width = window.right - window.left;
  const int candidates = window.empty() ? 0 : width * (window.bottom - window.top);
  std::uint32_t best = kNoCandidate;
  for (int index = thread; index < candidates; index += kThreads) {
    const int x0 = window.left + index % width;
    const int y0 = window.top + index / width;
    const std::uint8_t* block = job.reference + y0 * job.reference_pitch + x0;
    std::uint32_t sad = 0;
    for (int y = 0; y < kBlockSize; ++y) {
      for (int x = 0; x < kBlockSize; ++x) {
        sad += static_cast<std::uint32_t>(abs(block[y * job.reference_pitch + x] - current[y * kBlockSize + x]));
      }
    }
    best = min(best, sad << 16 | key_of_vector(x0 - column * kBlockSize, y0 - row * kBlockSize));
  }

  keys[thread] = best;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) keys[thread] = min(keys[thread], keys[thread + half]);
  }
  if (thread == 0) store_best(job, column, row, keys[0]);
}

class TextbookSearch final : public MotionSearch {
 public:
  [[nodiscard]] KernelNeeds form() const override {
    return {.kernel = reinterpret_cast<const void*>(motion_textbook), .threads = kThreads};
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    MotionBatch batch{};
    std::ranges::copy(jobs, batch.jobs.begin());
    unsigned columns = 0;
    unsigned rows = 0;
    for (const MotionJob& job : jobs) {
      columns = std::max(columns, static_cast<unsigned>(job.width / kBlockSize));
      rows = std::max(rows, static_cast<unsigned>(job.height / kBlockSize));
    }
    launch(motion_textbook, {{columns, rows, jobs.size()}, kThreads}, stream, batch);
  }
};

}  // namespace

std::unique_ptr<MotionSearch> make_textbook_search() { return std::make_unique<TextbookSearch>(); }

}  // namespace c63::cuda
