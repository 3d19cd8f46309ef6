// Step 2 of docs/course.md: one instruction adds up four absolute differences. It takes words of four samples. A funnel
// shift makes such a word if the samples do not begin at a word's border. Each warp reduces the minimum by shuffles; a
// tree in shared memory would need a barrier per level.

#include <c63/motion_kernel.h>

constexpr int kThreads = 256;
constexpr unsigned kNone = 0xFFFFFFFF;  // larger than every key

// Bytes of shared memory. A row has 2 * range + 8 bytes, rounded up to words, and one more word that is read but not
// used: at most 2 r + 15. (2 r + 15) * (2 r + 8) = 120 + 46 r + 4 r r.
C63_MOTION_SHAPE({kThreads, 1}, {1, 1}, {120, 46, 4});

C63_MOTION_KERNEL void __launch_bounds__(kThreads) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  extern __shared__ __align__(16) unsigned char window[];
  __shared__ unsigned current[16];  // the block, four samples per word
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
  if (thread < 64) {
    reinterpret_cast<unsigned char*>(current)[thread] =
        job.current[(y0 + thread / 8) * job.current_pitch + x0 + thread % 8];
  }
  __syncthreads();

  unsigned best = kNone;
  for (int i = thread; i < width * height; i += kThreads) {
    const int x = i % width, y = i / width;
    const unsigned* words = reinterpret_cast<const unsigned*>(window + y * pitch + (x & ~3));
    const unsigned shift = (x & 3) * 8;
    unsigned sad = 0;
#pragma unroll
    for (int line = 0; line < 8; ++line, words += pitch / 4) {
      sad = c63_motion_absdiff4(__funnelshift_r(words[0], words[1], shift), current[2 * line], sad);
      sad = c63_motion_absdiff4(__funnelshift_r(words[1], words[2], shift), current[2 * line + 1], sad);
    }
    best = min(best, sad << 16 | i);
  }

  best = c63_motion_warp_min(best);
  if (thread % 32 == 0) keys[thread / 32] = best;
  __syncthreads();
  if (thread < 32) {
    best = c63_motion_warp_min(thread < kThreads / 32 ? keys[thread] : kNone);
    if (thread == 0) {
      const int i = best & 0xFFFF;
      block.x = left + i % width, block.y = top + i / width, block.sad = best >> 16;
      c63_motion_store(&block);
    }
  }
}
