// The start of step 3 of docs/course.md: a thread takes eight candidates, one below the other, and keeps their sums in
// registers. Each word of the window that it loads serves up to eight of them; packed.cu loads it for each.

#include <c63/motion_kernel.h>

constexpr int kThreads = 128;
constexpr int kEach = 8;                // candidates of a thread
constexpr unsigned kNone = 0xFFFFFFFF;  // larger than every key

// A row takes 2 * range + 8 bytes, rounded up to words, and a word more: at most 2 r + 15. The last thread of a column
// reads up to 7 rows more than there are: 2 r + 15 rows. (2 r + 15) * (2 r + 15) = 225 + 60 r + 4 r r.
C63_MOTION_SHAPE({kThreads, 1}, {1, 1}, {225, 60, 4});

C63_MOTION_KERNEL void __launch_bounds__(kThreads) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  extern __shared__ __align__(16) unsigned char window[];
  __shared__ unsigned keys[kThreads / 32];

  const c63_motion_job& job = batch.jobs[blockIdx.z];
  const int thread = threadIdx.x;
  if (blockIdx.x >= job.width / 8 || blockIdx.y >= job.height / 8) return;
  c63_motion_block block = c63_motion_window(&job, blockIdx.x, blockIdx.y);
  const int x0 = block.x0, y0 = block.y0, left = block.left, top = block.top;
  const int width = block.right - left, height = block.bottom - top;

  const int window_width = width + 7, window_height = height + 7;
  const int pitch = (2 * job.range + 8 + 3) / 4 * 4 + 4;
  for (int i = thread; i < window_width * window_height; i += kThreads) {
    window[i / window_width * pitch + i % window_width] =
        job.reference[(top + i / window_width) * job.reference_pitch + left + i % window_width];
  }
  unsigned current[16];  // the block as words
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    current[i] = *reinterpret_cast<const unsigned*>(job.current + (y0 + i / 2) * job.current_pitch + x0 + i % 2 * 4);
  }
  __syncthreads();

  unsigned best = kNone;
  for (int i = thread; i < width * ((height + kEach - 1) / kEach); i += kThreads) {
    const int x = i % width, first = i / width * kEach;
    const unsigned* words = reinterpret_cast<const unsigned*>(window + first * pitch + (x & ~3));
    const unsigned shift = (x & 3) * 8;
    unsigned sums[kEach] = {};
#pragma unroll
    for (int line = 0; line < kEach + 7; ++line, words += pitch / 4) {
      const unsigned a = __funnelshift_r(words[0], words[1], shift), b = __funnelshift_r(words[1], words[2], shift);
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        if (line - k < 0 || line - k > 7) continue;  // not a line of candidate k: known when this is compiled
        sums[k] = c63_motion_absdiff4(a, current[2 * (line - k)], sums[k]);
        sums[k] = c63_motion_absdiff4(b, current[2 * (line - k) + 1], sums[k]);
      }
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (first + k < height) best = min(best, sums[k] << 16 | ((first + k) * width + x));
    }
  }

  best = c63_motion_warp_min(best);
  if (thread % 32 == 0) keys[thread / 32] = best;
  __syncthreads();
  if (thread == 0) {
    for (int i = 1; i < kThreads / 32; ++i) best = min(best, keys[i]);
    const int i = best & 0xFFFF;
    block.x = left + i % width, block.y = top + i / width, block.sad = best >> 16;
    c63_motion_store(&block);
  }
}
