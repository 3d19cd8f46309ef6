#pragma once

// The reference window of a block, in shared memory. For kernels in which a thread compares one candidate at a time.

#include "cuda_me/kernels/motion_common.cuh"

namespace c63::cuda {

/// The pitch of a window in shared memory, in bytes. A row is a number of whole words, and one more word, because a
/// read that is not aligned needs the word after the last one.
[[nodiscard]] C63_HD constexpr int window_pitch(int range) { return (2 * range + kBlockSize + 3) / 4 * 4 + 4; }
[[nodiscard]] C63_HD constexpr std::size_t window_bytes(int range) {
  return static_cast<std::size_t>(window_pitch(range)) * (2 * range + kBlockSize);
}

#if defined(__CUDACC__)

/// Copies all samples that the candidates of `window` cover. All threads of the thread block take part.
__device__ inline void load_window(std::uint8_t* shared, const MotionJob& job, const SearchWindow& window, int pitch) {
  const int width = window.right - window.left + kBlockSize - 1;
  const int height = window.bottom - window.top + kBlockSize - 1;
  for (int i = static_cast<int>(threadIdx.x); i < width * height; i += static_cast<int>(blockDim.x)) {
    const int y = i / width;
    const int x = i % width;
    shared[y * pitch + x] = job.reference[(window.top + y) * job.reference_pitch + window.left + x];
  }
}

/// Loads the current block into shared memory as sixteen words. All threads of the thread block take part.
__device__ inline void load_current(std::uint32_t* shared, const MotionJob& job, int column, int row) {
  const int thread = static_cast<int>(threadIdx.x);
  auto* bytes = reinterpret_cast<std::uint8_t*>(shared);
  for (int i = thread; i < kBlockSamples; i += static_cast<int>(blockDim.x)) {
    bytes[i] = job.current[(row * kBlockSize + i / kBlockSize) * job.current_pitch + column * kBlockSize +
                           i % kBlockSize];
  }
}

/// Returns the SAD of the candidate at (x, y) of the window. It reads aligned words of four samples and shifts them,
/// because a candidate may begin at any byte.
__device__ __forceinline__ std::uint32_t packed_sad(const std::uint8_t* window, int pitch, int x, int y,
                                                    const std::uint32_t* current) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(window + y * pitch + (x & ~3));
  const unsigned shift = static_cast<unsigned>(x & 3) * 8;
  std::uint32_t sad = 0;
#pragma unroll
  for (int i = 0; i < kBlockSize; ++i) {
    const std::uint32_t a = words[0];
    const std::uint32_t b = words[1];
    const std::uint32_t c = words[2];
    sad = absdiff4_add(__funnelshift_r(a, b, shift), current[2 * i], sad);
    sad = absdiff4_add(__funnelshift_r(b, c, shift), current[2 * i + 1], sad);
    words += pitch / 4;
  }
  return sad;
}

/// Returns the smallest key of all threads of a thread block, found by a tree in shared memory. All threads get it.
template <int kThreads>
__device__ inline std::uint32_t block_min_tree(std::uint32_t* keys, std::uint32_t key) {
  const int thread = static_cast<int>(threadIdx.x);
  keys[thread] = key;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) keys[thread] = min(keys[thread], keys[thread + half]);
  }
  __syncthreads();
  return keys[0];
}

#endif

}  // namespace c63::cuda
