// Three-step search: nine candidates around the best one so far. Their distance is halved each time.
// T. Koga, K. Iinuma, A. Hirano, Y. Iijima, T. Ishiguro: Motion-compensated interframe coding for video conferencing,
// NTC 1981.

#include <c63/motion_kernel.h>

// A warp searches one block. Each lane tries a candidate, then all lanes know the best one.

__device__ void find(c63_motion_block* block) {
  const int lane = threadIdx.x;
  int step = 1;
  while (2 * step < block->job->range) step *= 2;
  for (; step >= 1; step /= 2) c63_motion_try_lanes(block, block->x + (lane % 3 - 1) * step, block->y + (lane / 3 - 1) * step, lane < 9);
}

C63_MOTION_EACH_BLOCK(find)
