/* Three-step search: nine candidates around the best one so far. Their distance is halved each time.
 * T. Koga, K. Iinuma, A. Hirano, Y. Iijima, T. Ishiguro: Motion-compensated interframe coding for video conferencing,
 * NTC 1981. */

#include <c63/motion_kernel.h>

static void find(c63_motion_block* block) {
  int step = 1;
  while (2 * step < block->job->range) step *= 2;
  for (; step >= 1; step /= 2) {
    const int x = block->x, y = block->y;
    for (int dy = -step; dy <= step; dy += step) {
      for (int dx = -step; dx <= step; dx += step) c63_motion_try(block, x + dx, y + dy);
    }
  }
}

C63_MOTION_EACH_BLOCK(find)
