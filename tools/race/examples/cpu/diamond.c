/* Diamond search: a large diamond of candidates moves until its centre is the best, then a small one ends the search.
 * S. Zhu, K.-K. Ma: A new diamond search algorithm for fast block-matching motion estimation, IEEE Trans. Image
 * Processing 9(2), 2000. */

#include <c63/motion_kernel.h>

static void find(c63_motion_block* block) {
  static const int large[8][2] = {{0, -2}, {-1, -1}, {1, -1}, {-2, 0}, {2, 0}, {-1, 1}, {1, 1}, {0, 2}};
  static const int small[4][2] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};
  for (int moved = 1; moved;) {
    const int x = block->x, y = block->y;
    moved = 0;
    for (int i = 0; i < 8; ++i) moved |= c63_motion_try(block, x + large[i][0], y + large[i][1]);
  }
  const int x = block->x, y = block->y;
  for (int i = 0; i < 4; ++i) c63_motion_try(block, x + small[i][0], y + small[i][1]);
}

C63_MOTION_EACH_BLOCK(find)
