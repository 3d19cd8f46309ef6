// Three-step search: nine candidates around the best one so far. Their distance is halved each time.
// T. Koga, K. Iinuma, A. Hirano, Y. Iijima, T. Ishiguro: Motion-compensated interframe coding for video conferencing,
// NTC 1981.

#include <c63/motion_kernel.h>

// A warp searches one block. Each lane tries a candidate, then all lanes know the best one.
C63_MOTION_SHAPE({32, 1}, {1, 1}, {0, 0, 0});

struct Search {
  const c63_motion_job& job;
  int x0, y0;                    // position of the block
  int left, top, right, bottom;  // the window; right and bottom are exclusive
  int x, y;                      // position of the best candidate
  unsigned sad;
};

__device__ unsigned sad_at(const Search& s, int x, int y) {
  const unsigned char* a = s.job.current + s.y0 * s.job.current_pitch + s.x0;
  const unsigned char* b = s.job.reference + y * s.job.reference_pitch + x;
  unsigned sad = 0;
  for (int i = 0; i < 8; ++i, a += s.job.current_pitch, b += s.job.reference_pitch) {
    for (int j = 0; j < 8; ++j) sad += abs(a[j] - b[j]);
  }
  return sad;
}

// Tries one candidate per lane. `has_one` is false for lanes without a candidate. Returns true if a candidate is better
// than the best that was known.
__device__ bool try_all(Search& s, int x, int y, bool has_one) {
  const bool inside = has_one && x >= s.left && x < s.right && y >= s.top && y < s.bottom;
  unsigned key = inside ? sad_at(s, x, y) << 5 | threadIdx.x : 0xFFFFFFFF;
  for (int step = 16; step > 0; step /= 2) key = min(key, __shfl_xor_sync(0xFFFFFFFF, key, step));
  if (key == 0xFFFFFFFF || key >> 5 >= s.sad) return false;
  s.sad = key >> 5;
  s.x = __shfl_sync(0xFFFFFFFF, x, key & 31);
  s.y = __shfl_sync(0xFFFFFFFF, y, key & 31);
  return true;
}

__device__ void find(Search& s) {
  const int lane = threadIdx.x;
  int step = 1;
  while (2 * step < s.job.range) step *= 2;
  for (; step >= 1; step /= 2) try_all(s, s.x + (lane % 3 - 1) * step, s.y + (lane / 3 - 1) * step, lane < 9);
}

C63_MOTION_KERNEL void __launch_bounds__(32) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  const c63_motion_job& job = batch.jobs[blockIdx.z];
  const int columns = job.width / 8, rows = job.height / 8;
  const int column = blockIdx.x, row = blockIdx.y;
  if (column >= columns || row >= rows) return;
  const int x0 = 8 * column, y0 = 8 * row;
  int left = max(0, x0 - job.range), right = min(job.width - 8, x0 + job.range);
  int top = max(0, y0 - job.range), bottom = min(job.height - 8, y0 + job.range);
  if (left >= right || top >= bottom) left = x0, right = x0 + 1, top = y0, bottom = y0 + 1;

  // Begin at the zero vector, or if it is not allowed, at the nearest candidate.
  Search s = {job, x0, y0, left, top, right, bottom, min(x0, right - 1), min(y0, bottom - 1), 0};
  s.sad = sad_at(s, s.x, s.y);
  find(s);
  if (threadIdx.x == 0) {
    job.vectors[row * columns + column] = {(signed char)(s.x - x0), (signed char)(s.y - y0)};
    job.sads[row * columns + column] = s.sad;
  }
}
