// The start of step 4 of docs/course.md: a thread block searches eight blocks in a row. While it searches one, the
// window of the next is copied to shared memory (cp.async, from sm_80 on). The search is that of registers.cu.

#include <c63/motion_kernel.h>

constexpr int kThreads = 128;
constexpr int kBlocks = 8;              // that a thread block searches, one after another
constexpr int kEach = 8;                // candidates of a thread
constexpr unsigned kNone = 0xFFFFFFFF;  // larger than every key

// A window begins at a whole word, so a row takes up to 2 * range + 17 bytes. There are 2 * range + 15 rows, as in
// registers.cu, and two windows: 2 * (2 r + 17) * (2 r + 15) = 510 + 128 r + 8 r r.
C63_MOTION_SHAPE({kThreads, 1}, {kBlocks, 1}, {510, 128, 8});

// Begins to copy a word to shared memory, if the GPU can; else copies it.
__device__ void copy_word(unsigned* to, const unsigned* from) {
#if __CUDA_ARCH__ >= 800
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place), "l"(from) : "memory");
#else
  *to = *from;
#endif
}
__device__ void end_of_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all copies except those that the last call of end_of_copies() ended. These are for the next window, and may go on.
__device__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

C63_MOTION_KERNEL void __launch_bounds__(kThreads) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  extern __shared__ __align__(16) unsigned char windows[];
  __shared__ unsigned keys[kThreads / 32];

  const c63_motion_job& job = batch.jobs[blockIdx.z];
  const int columns = job.width / 8, rows = job.height / 8;
  const int first_column = blockIdx.x * kBlocks, row = blockIdx.y, thread = threadIdx.x;
  if (first_column >= columns || row >= rows) return;
  const int count = min(kBlocks, columns - first_column);
  const int pitch = (2 * job.range + 10 + 3) / 4 * 4 + 4;
  const int window_bytes = pitch * (2 * job.range + 15);

  // Begins to copy the window of a block into one of the two places.
  const auto fetch = [&](int number) {
    const c63_motion_block w = c63_motion_window(&job, first_column + number, row);
    const int start = w.left & ~3, words = (w.right + 6 - start) / 4 + 1, lines = w.bottom - w.top + 7;
    unsigned char* const to = windows + number % 2 * window_bytes;
    for (int i = thread; i < words * lines; i += kThreads) {
      copy_word(reinterpret_cast<unsigned*>(to + i / words * pitch) + i % words,
                reinterpret_cast<const unsigned*>(job.reference + (w.top + i / words) * job.reference_pitch + start) +
                    i % words);
    }
  };

  fetch(0);
  end_of_copies();
  for (int number = 0; number < count; ++number) {
    if (number + 1 < count) fetch(number + 1);
    end_of_copies();
    c63_motion_block w = c63_motion_window(&job, first_column + number, row);
    unsigned current[16];  // the block as words
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      current[i] = *reinterpret_cast<const unsigned*>(job.current + (w.y0 + i / 2) * job.current_pitch + w.x0 + i % 2 * 4);
    }
    wait_for_copies();
    __syncthreads();

    const int width = w.right - w.left, height = w.bottom - w.top;
    const unsigned char* const window = windows + number % 2 * window_bytes;
    unsigned best = kNone;
    for (int i = thread; i < width * ((height + kEach - 1) / kEach); i += kThreads) {
      const int x = i % width, first = i / width * kEach, place = x + (w.left & 3);
      const unsigned* words = reinterpret_cast<const unsigned*>(window + first * pitch + (place & ~3));
      const unsigned shift = (place & 3) * 8;
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
    __syncthreads();  // now nobody reads this window: the next turn may fetch into it
    if (thread == 0) {
      for (int i = 1; i < kThreads / 32; ++i) best = min(best, keys[i]);
      const int i = best & 0xFFFF;
      w.x = w.left + i % width, w.y = w.top + i / width, w.sad = best >> 16;
      c63_motion_store(&w);
    }
  }
}
