// Step 2a of docs/course.md: the textbook search, but each thread block reads its reference window from global memory
// once, into shared memory.

#include <c63/motion_kernel.h>

constexpr int kThreads = 256;
constexpr unsigned kNone = 0xFFFFFFFF;  // larger than every key

// Bytes of shared memory: 2 * range + 8 rows of as many bytes, (2 r + 8) * (2 r + 8) = 64 + 32 r + 4 r r.
C63_MOTION_SHAPE({kThreads, 1}, {1, 1}, {64, 32, 4});

C63_MOTION_KERNEL void __launch_bounds__(kThreads) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  extern __shared__ unsigned char window[];
  __shared__ unsigned char current[64];
  __shared__ unsigned keys[kThreads];

  const c63_motion_job& job = batch.jobs[blockIdx.z];
  const int thread = threadIdx.x;
  if (blockIdx.x >= job.width / 8 || blockIdx.y >= job.height / 8) return;
  c63_motion_block block = c63_motion_window(&job, blockIdx.x, blockIdx.y);
  const int x0 = block.x0, y0 = block.y0, left = block.left, top = block.top;
  const int width = block.right - left, height = block.bottom - top;

  // The block of the last candidate reaches 7 samples further.
  const int window_width = width + 7, window_height = height + 7;
  for (int i = thread; i < window_width * window_height; i += kThreads) {
    window[i] = job.reference[(top + i / window_width) * job.reference_pitch + left + i % window_width];
  }
  if (thread < 64) current[thread] = job.current[(y0 + thread / 8) * job.current_pitch + x0 + thread % 8];
  __syncthreads();

  unsigned best = kNone;
  for (int i = thread; i < width * height; i += kThreads) {
    const unsigned char* candidate = window + i / width * window_width + i % width;
    unsigned sad = 0;
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) sad += abs(candidate[y * window_width + x] - current[y * 8 + x]);
    }
    best = min(best, sad << 16 | i);
  }

  keys[thread] = best;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) keys[thread] = min(keys[thread], keys[thread + half]);
  }
  if (thread == 0) {
    const int i = keys[0] & 0xFFFF;
    block.x = left + i % width, block.y = top + i / width, block.sad = keys[0] >> 16;
    c63_motion_store(&block);
  }
}
