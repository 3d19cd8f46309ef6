// A word-for-word copy of the built-in kernel `textbook` (cuda_me/kernels/ladder/motion_textbook.cu and its headers).
// It shows that a kernel from a file is as fast as a built-in one.

#include <c63/motion_kernel.h>

#include <cstdint>

constexpr int kBlockSize = 8;
constexpr int kBlockSamples = 64;
constexpr int kThreads = 1024;
constexpr std::uint32_t kNoCandidate = 0xFFFFFFFFU;

struct SearchWindow {
  int left, top, right, bottom;
  __device__ bool empty() const { return left >= right || top >= bottom; }
};

__device__ SearchWindow search_window(int column, int row, int plane_width, int plane_height, int range) {
  const int x = column * kBlockSize;
  const int y = row * kBlockSize;
  const int last_x = plane_width - kBlockSize;
  const int last_y = plane_height - kBlockSize;
  return {x - range > 0 ? x - range : 0, y - range > 0 ? y - range : 0,  //
          x + range < last_x ? x + range : last_x, y + range < last_y ? y + range : last_y};
}

__device__ std::uint32_t candidate_key(std::uint32_t sad, std::uint32_t index) { return sad << 16 | index; }

__device__ std::uint32_t sad_in_place(const c63_motion_job& job, int x, int y) {
  std::uint32_t sad = 0;
  for (int i = 0; i < kBlockSize; ++i) {
    const std::uint8_t* a = job.current + (y + i) * job.current_pitch + x;
    const std::uint8_t* b = job.reference + (y + i) * job.reference_pitch + x;
    for (int j = 0; j < kBlockSize; ++j) sad += static_cast<std::uint32_t>(abs(a[j] - b[j]));
  }
  return sad;
}

__device__ __forceinline__ void store_motion(const c63_motion_job& job, int column, int row, int mv_x, int mv_y,
                                             std::uint32_t sad) {
  const size_t block = static_cast<size_t>(row) * (job.width / kBlockSize) + column;
  job.vectors[block] = {static_cast<std::int8_t>(mv_x), static_cast<std::int8_t>(mv_y)};
  if (job.sads != nullptr) job.sads[block] = static_cast<std::uint16_t>(sad);
}

__device__ void store_best(const c63_motion_job& job, int column, int row, const SearchWindow& window,
                           std::uint32_t key) {
  if (key == kNoCandidate) {
    store_motion(job, column, row, 0, 0, sad_in_place(job, column * kBlockSize, row * kBlockSize));
    return;
  }
  const int width = window.right - window.left;
  const int index = static_cast<int>(key & 0xFFFFU);
  store_motion(job, column, row, window.left + index % width - column * kBlockSize,
               window.top + index / width - row * kBlockSize, key >> 16);
}

C63_MOTION_KERNEL void __launch_bounds__(kThreads) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  __shared__ std::uint8_t current[kBlockSamples];
  __shared__ std::uint32_t keys[kThreads];

  const c63_motion_job& job = batch.jobs[blockIdx.z];
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
    const std::uint8_t* block =
        job.reference + (window.top + index / width) * job.reference_pitch + window.left + index % width;
    std::uint32_t sad = 0;
    for (int y = 0; y < kBlockSize; ++y) {
      for (int x = 0; x < kBlockSize; ++x) {
        sad += static_cast<std::uint32_t>(abs(block[y * job.reference_pitch + x] - current[y * kBlockSize + x]));
      }
    }
    best = min(best, candidate_key(sad, static_cast<std::uint32_t>(index)));
  }

  keys[thread] = best;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) keys[thread] = min(keys[thread], keys[thread + half]);
  }
  if (thread == 0) store_best(job, column, row, window, keys[0]);
}
