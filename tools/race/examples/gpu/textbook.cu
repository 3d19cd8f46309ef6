// Step 1 of docs/course.md, and the built-in kernel `textbook` as a file: a thread block for each 8x8 block, a thread
// for each candidate, and a tree of comparisons that finds the smallest SAD.

#include <c63/motion_kernel.h>

constexpr int kThreads = 1024;
constexpr unsigned kNone = 0xFFFFFFFF;  // larger than every key

C63_MOTION_KERNEL void __launch_bounds__(kThreads) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  __shared__ unsigned char current[64];
  __shared__ unsigned keys[kThreads];

  const c63_motion_job& job = batch.jobs[blockIdx.z];
  const int columns = job.width / 8, rows = job.height / 8;
  const int column = blockIdx.x, row = blockIdx.y, thread = threadIdx.x;
  if (column >= columns || row >= rows) return;  // the grid is as large as the largest plane needs
  const int x0 = 8 * column, y0 = 8 * row;

  if (thread < 64) current[thread] = job.current[(y0 + thread / 8) * job.current_pitch + x0 + thread % 8];
  __syncthreads();

  // The search window. A block without a candidate gets the zero vector.
  int left = max(0, x0 - job.range), right = min(job.width - 8, x0 + job.range);
  int top = max(0, y0 - job.range), bottom = min(job.height - 8, y0 + job.range);
  if (left >= right || top >= bottom) left = x0, right = x0 + 1, top = y0, bottom = y0 + 1;
  const int width = right - left;

  // A key holds SAD and candidate number. So the smallest key belongs to the first candidate with the smallest SAD.
  unsigned best = kNone;
  for (int i = thread; i < width * (bottom - top); i += kThreads) {
    const unsigned char* block = job.reference + (top + i / width) * job.reference_pitch + left + i % width;
    unsigned sad = 0;
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) sad += abs(block[y * job.reference_pitch + x] - current[y * 8 + x]);
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
