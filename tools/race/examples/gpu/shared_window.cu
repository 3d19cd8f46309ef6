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
  const int columns = job.width / 8, rows = job.height / 8;
  const int column = blockIdx.x, row = blockIdx.y, thread = threadIdx.x;
  if (column >= columns || row >= rows) return;
  const int x0 = 8 * column, y0 = 8 * row;

  int left = max(0, x0 - job.range), right = min(job.width - 8, x0 + job.range);
  int top = max(0, y0 - job.range), bottom = min(job.height - 8, y0 + job.range);
  if (left >= right || top >= bottom) left = x0, right = x0 + 1, top = y0, bottom = y0 + 1;
  const int width = right - left;

  // The block of the last candidate reaches 7 samples further.
  const int window_width = width + 7, window_height = bottom - top + 7;
  for (int i = thread; i < window_width * window_height; i += kThreads) {
    window[i] = job.reference[(top + i / window_width) * job.reference_pitch + left + i % window_width];
  }
  if (thread < 64) current[thread] = job.current[(y0 + thread / 8) * job.current_pitch + x0 + thread % 8];
  __syncthreads();

  unsigned best = kNone;
  for (int i = thread; i < width * (bottom - top); i += kThreads) {
    const unsigned char* block = window + i / width * window_width + i % width;
    unsigned sad = 0;
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) sad += abs(block[y * window_width + x] - current[y * 8 + x]);
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
    job.vectors[row * columns + column] = {(signed char)(left + i % width - x0), (signed char)(top + i / width - y0)};
    job.sads[row * columns + column] = keys[0] >> 16;
  }
}
