// The start of step 5 of docs/course.md: a candidate whose sum of samples differs too much is not compared.
// |sum of the block - sum of the candidate| is never more than their SAD. W. Li, E. Salari: Successive elimination
// algorithm for motion estimation, IEEE Trans. Image Processing 4(1), 1995.

#include <c63/motion_kernel.h>

constexpr int kThreads = 256;

// The window as in packed.cu, (2 r + 15) * (2 r + 8) bytes, and the sums of 8 samples in a row as 16-bit numbers,
// 2 * 2 r * (2 r + 7): 120 + 74 r + 12 r r.
C63_MOTION_SHAPE({kThreads, 1}, {1, 1}, {120, 74, 12});

__device__ unsigned sad_at(const unsigned char* window, int pitch, int x, int y, const unsigned* current) {
  const unsigned* words = reinterpret_cast<const unsigned*>(window + y * pitch + (x & ~3));
  const unsigned shift = (x & 3) * 8;
  unsigned sad = 0;
#pragma unroll
  for (int line = 0; line < 8; ++line, words += pitch / 4) {
    sad = c63_motion_absdiff4(__funnelshift_r(words[0], words[1], shift), current[2 * line], sad);
    sad = c63_motion_absdiff4(__funnelshift_r(words[1], words[2], shift), current[2 * line + 1], sad);
  }
  return sad;
}

C63_MOTION_KERNEL void __launch_bounds__(kThreads) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  extern __shared__ __align__(16) unsigned char window[];
  __shared__ unsigned current[16];  // the block as words
  __shared__ unsigned least;        // the smallest key so far

  const c63_motion_job& job = batch.jobs[blockIdx.z];
  const int thread = threadIdx.x;
  if (blockIdx.x >= job.width / 8 || blockIdx.y >= job.height / 8) return;
  c63_motion_block block = c63_motion_window(&job, blockIdx.x, blockIdx.y);
  const int x0 = block.x0, y0 = block.y0, left = block.left, top = block.top;
  const int width = block.right - left, height = block.bottom - top;

  const int window_width = width + 7, window_height = height + 7;
  const int pitch = (2 * job.range + 8 + 3) / 4 * 4 + 4;
  unsigned short* const row_sums = reinterpret_cast<unsigned short*>(window + pitch * (2 * job.range + 8));
  for (int i = thread; i < window_width * window_height; i += kThreads) {
    window[i / window_width * pitch + i % window_width] =
        job.reference[(top + i / window_width) * job.reference_pitch + left + i % window_width];
  }
  if (thread < 64) {
    reinterpret_cast<unsigned char*>(current)[thread] =
        job.current[(y0 + thread / 8) * job.current_pitch + x0 + thread % 8];
  }
  __syncthreads();

  for (int i = thread; i < width * window_height; i += kThreads) {
    const unsigned char* samples = window + i / width * pitch + i % width;
    unsigned sum = 0;
    for (int j = 0; j < 8; ++j) sum += samples[j];
    row_sums[i] = sum;
  }
  unsigned sum = 0;
  for (int i = 0; i < 16; ++i) sum = c63_motion_absdiff4(current[i], 0, sum);
  // The zero vector is often good, and a good first candidate rules out many.
  if (thread == 0) {
    const int x = min(max(x0 - left, 0), width - 1), y = min(max(y0 - top, 0), height - 1);
    least = sad_at(window, pitch, x, y, current) << 16 | (y * width + x);
  }
  __syncthreads();

  unsigned best = least;
  for (int i = thread; i < width * height; i += kThreads) {
    const int x = i % width, y = i / width;
    unsigned other = 0;
    for (int j = 0; j < 8; ++j) other += row_sums[i + j * width];
    const unsigned bound = sum > other ? sum - other : other - sum;
    const unsigned known = *static_cast<volatile unsigned*>(&least);  // the smallest key of any thread
    best = min(best, known);
    if ((bound << 16 | i) > best) continue;  // its key cannot be smaller
    const unsigned key = sad_at(window, pitch, x, y, current) << 16 | i;
    if (key < best) atomicMin(&least, key);
  }
  __syncthreads();

  if (thread == 0) {
    const int i = least & 0xFFFF;
    block.x = left + i % width, block.y = top + i / width, block.sad = least >> 16;
    c63_motion_store(&block);
  }
}
