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

/// Loads eight samples from any address, as two words. It reads only words that contain them.
__device__ __forceinline__ uint2 load_eight(const std::uint8_t* samples) {
  const auto address = reinterpret_cast<std::uintptr_t>(samples);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const auto shift = static_cast<std::uint32_t>(address & 3) * 8;
  const std::uint32_t low = words[0];
  const std::uint32_t middle = words[1];
  const std::uint32_t high = shift != 0 ? words[2] : 0;
  return {__funnelshift_r(low, middle, shift), __funnelshift_r(middle, high, shift)};
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

/// Returns the lower half of a key: (dy + 128) << 8 | (dx + 128) of a vector. Keys sad << 16 | this have the order of
/// SADs, and then raster order.
[[nodiscard]] __device__ __forceinline__ std::uint32_t key_of_vector(int dx, int dy) {
  return static_cast<std::uint32_t>((dy + 128) << 8 | (dx + 128));
}
[[nodiscard]] __device__ __forceinline__ MotionVector vector_of_key(std::uint32_t key) {
  return {static_cast<std::int8_t>(static_cast<int>(key & 0xFFU) - 128),
          static_cast<std::int8_t>(static_cast<int>(key >> 8 & 0xFFU) - 128)};
}

/// Writes the vector and the SAD of a block, if the plane has it. `key` is the smallest key of the block's candidates;
/// kNoCandidate if there are none.
__device__ __forceinline__ void store_best(const MotionJob& job, int column, int row, std::uint32_t key) {
  if (column >= job.width / kBlockSize || row >= job.height / kBlockSize) return;
  if (key == kNoCandidate) {
    store_motion(job, column, row, 0, 0, sad_in_place(job, column * kBlockSize, row * kBlockSize));
  } else {
    const MotionVector vector = vector_of_key(key);
    store_motion(job, column, row, vector.x, vector.y, key >> 16);
  }
}

#endif

}  // namespace c63::cuda
