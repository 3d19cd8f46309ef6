#pragma once

// Code that the search kernels share.

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

#include "codec/search_window.h"
#include "cuda_me/kernels/motion.h"

namespace c63::cuda {

inline constexpr int kWarp = 32;
/// Larger than every key.
inline constexpr std::uint32_t kNoCandidate = 0xFFFFFFFFU;
/// The largest number of jobs that the parameters of one kernel can hold.
inline constexpr int kBatchJobs = 24;

#if defined(__CUDACC__)

/// Adds the absolute differences of four pairs of bytes to `sum`, in one instruction. The compiler does not generate
/// this instruction by itself: for __vsadu4() and an addition, it generates two.
__device__ __forceinline__ std::uint32_t absdiff4_add(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  std::uint32_t result;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}

/// The smallest value of the warp. All lanes take part.
__device__ __forceinline__ std::uint32_t warp_min(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xFFFFFFFFU, value);
#else
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = min(value, __shfl_xor_sync(0xFFFFFFFFU, value, step));
  }
  return value;
#endif
}

/// Returns the SAD of the zero vector for the block at (x, y), byte by byte. Used for blocks whose window has no
/// candidate.
__device__ inline std::uint32_t sad_in_place(const MotionJob& job, int x, int y) {
  std::uint32_t sad = 0;
  for (int i = 0; i < kBlockSize; ++i) {
    const std::uint8_t* a = job.current + (y + i) * job.current_pitch + x;
    const std::uint8_t* b = job.reference + (y + i) * job.reference_pitch + x;
    for (int j = 0; j < kBlockSize; ++j) sad += static_cast<std::uint32_t>(abs(a[j] - b[j]));
  }
  return sad;
}

__device__ __forceinline__ void store_motion(const MotionJob& job, int column, int row, int mv_x, int mv_y,
                                             std::uint32_t sad) {
  const std::size_t block = static_cast<std::size_t>(row) * (job.width / kBlockSize) + column;
  job.vectors[block] = {static_cast<std::int8_t>(mv_x), static_cast<std::int8_t>(mv_y)};
  if (job.sads != nullptr) job.sads[block] = static_cast<std::uint16_t>(sad);
}

/// Writes a block's vector and SAD. `key` is the smallest key of the window's candidates; kNoCandidate if the window is
/// empty.
__device__ inline void store_best(const MotionJob& job, int column, int row, const SearchWindow& window,
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

#endif

}  // namespace c63::cuda
