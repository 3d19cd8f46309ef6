// Motion kernels with the mistakes that students make. A line before this text defines MISTAKE, the number of the
// mistake; 0 means none. wrong_on_gpu.py races all of them. For each mistake it knows the
// cause, and checks that c63bench names it.

#include <c63/motion_kernel.h>

constexpr int kThreads = 256;
constexpr unsigned kNone = 0xFFFFFFFF;

#if MISTAKE == 24
__device__ unsigned kept_best = kNone;  // never set again
#endif
#if MISTAKE == 28
__device__ int searched_before = 0;
#endif
#if MISTAKE == 29
C63_MOTION_SHAPE({kThreads, 1}, {2, 1}, {0, 0, 0});  // a thread block searches one block, not two
#endif

C63_MOTION_KERNEL void __launch_bounds__(kThreads) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  __shared__ unsigned char current[64];
  __shared__ unsigned keys[kThreads];

#if MISTAKE == 1  // the planes of a launch are not all searched
  const c63_motion_job& job = batch.jobs[0];
#else
  const c63_motion_job& job = batch.jobs[blockIdx.z];
#endif
#if MISTAKE == 2  // right only at one size
  const int columns = 22, rows = 18;
#else
  const int columns = job.width / 8, rows = job.height / 8;
#endif
  const int column = blockIdx.x, row = blockIdx.y, thread = threadIdx.x;
#if MISTAKE == 3  // the last column is left out
  if (column >= columns - 1 || row >= rows) return;
#elif MISTAKE == 4  // the last row is left out
  if (column >= columns || row >= rows - 1) return;
#elif MISTAKE == 5  // blocks outside a smaller plane write
#else
  if (column >= columns || row >= rows) return;
#endif
  const int x0 = 8 * column, y0 = 8 * row;

#if MISTAKE == 6  // width for pitch
  const long long current_pitch = job.width, reference_pitch = job.width;
#elif MISTAKE == 7  // one pitch for both
  const long long current_pitch = job.current_pitch, reference_pitch = job.current_pitch;
#else
  const long long current_pitch = job.current_pitch, reference_pitch = job.reference_pitch;
#endif

  if (thread < 64) current[thread] = job.current[(y0 + thread / 8) * current_pitch + x0 + thread % 8];
#if MISTAKE != 8  // no barrier after the block is loaded
  __syncthreads();
#endif

#if MISTAKE == 9  // luma's range for chroma
  const int range = 16;
#else
  const int range = job.range;
#endif
  int left = max(0, x0 - range), right = min(job.width - 8, x0 + range);
  int top = max(0, y0 - range), bottom = min(job.height - 8, y0 + range);
#if MISTAKE == 10  // the border is included
  right = min(job.width - 7, x0 + range), bottom = min(job.height - 7, y0 + range);
#elif MISTAKE == 11  // +range is included
  right = min(job.width - 8, x0 + range + 1), bottom = min(job.height - 8, y0 + range + 1);
#elif MISTAKE == 12  // one column short at the right edge
  if (x0 + range > job.width - 8) right = job.width - 9;
#elif MISTAKE == 13  // the left edge begins at 1
  left = max(1, x0 - range);
#elif MISTAKE == 14  // the top edge begins at 1
  top = max(1, y0 - range);
#elif MISTAKE == 15  // -range is left out
  left = max(0, x0 - range + 1);
#elif MISTAKE == 16  // one row short at the bottom edge
  if (y0 + range > job.height - 8) bottom = job.height - 9;
#endif
  if (left >= right || top >= bottom) left = x0, right = x0 + 1, top = y0, bottom = y0 + 1;
  const int width = right - left;

  unsigned best = kNone;
#if MISTAKE == 17  // only as many candidates as threads
  for (int i = thread; i < min(kThreads, width * (bottom - top)); i += kThreads) {
#else
  for (int i = thread; i < width * (bottom - top); i += kThreads) {
#endif
    const unsigned char* block = job.reference + (top + i / width) * reference_pitch + left + i % width;
    unsigned sad = 0;
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
#if MISTAKE == 18  // differences wrap below zero
        sad += (unsigned char)(block[y * reference_pitch + x] - current[y * 8 + x]);
#elif MISTAKE == 19  // samples are signed
        sad += abs((signed char)block[y * reference_pitch + x] - (signed char)current[y * 8 + x]);
#elif MISTAKE == 20  // squares
        const int d = block[y * reference_pitch + x] - current[y * 8 + x];
        sad += d * d;
#else
        sad += abs(block[y * reference_pitch + x] - current[y * 8 + x]);
#endif
      }
    }
#if MISTAKE == 20
    sad = min(sad / 64, 65535u);
#endif
#if MISTAKE == 21  // the last of equals
    best = min(best, sad << 16 | (0xFFFF - i));
#elif MISTAKE == 22  // SADs in 12 bits
    best = min(best, (sad & 0xFFF) << 16 | i);
#else
    best = min(best, sad << 16 | i);
#endif
  }

#if MISTAKE == 23  // shared memory that nobody has set
  if (best != kNone && thread % 2 == 0) keys[thread] = best;
#elif MISTAKE == 24  // kept from call to call
  keys[thread] = min(best, kept_best);
#else
  keys[thread] = best;
#endif
  for (int half = kThreads / 2; half > 0; half /= 2) {
#if MISTAKE == 25  // no barrier in the reduction
#elif MISTAKE == 26  // a barrier that not all threads reach, in a loop that does not end
    if (thread < half) __syncthreads();
    while (thread == 0 && column == 1) half += (keys[0] == kNone - 1);
#else
    __syncthreads();
#endif
    if (thread < half) keys[thread] = min(keys[thread], keys[thread + half]);
  }
#if MISTAKE == 24
  if (thread == 0) kept_best = min(kept_best, keys[0]);
#endif
  if (thread == 0) {
#if MISTAKE == 21
    const int i = 0xFFFF - (keys[0] & 0xFFFF);
#else
    const int i = keys[0] & 0xFFFF;
#endif
    int x = left + i % width - x0, y = top + i / width - y0;
#if MISTAKE == 27  // components in 4 bits
    x = (x + 8 & 15) - 8, y = (y + 8 & 15) - 8;
#elif MISTAKE == 28  // right only the first time
    if (column == columns - 1 && row == rows - 1) searched_before = 1;
    if (searched_before && column < columns - 1) x = -x;
#elif MISTAKE == 30  // components swapped
    const int swapped = x;
    x = y, y = swapped;
#elif MISTAKE == 31  // from the window's corner
    x = i % width, y = i / width;
#endif
#if MISTAKE == 32  // column by column
    const int number = column * rows + row;
#elif MISTAKE == 33  // one block too far
    const int number = row * columns + column + 1;
#else
    const int number = row * columns + column;
#endif
    job.vectors[number] = {(signed char)x, (signed char)y};
#if MISTAKE == 34  // the SAD in 8 bits
    job.sads[number] = (unsigned char)(keys[0] >> 16);
#elif MISTAKE == 35  // SADs are not written
#elif MISTAKE == 36  // through a pointer that is not the job's
    unsigned short* sads = nullptr;
    sads[number] = keys[0] >> 16;
#else
    job.sads[number] = keys[0] >> 16;
#endif
  }
}
