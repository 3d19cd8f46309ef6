/* Hexagon search: six candidates at nearly equal distance move until their centre is the best. Then the eight
 * neighbours of the centre are tried.
 * C. Zhu, X. Lin, L.-P. Chau: Hexagon-based search pattern for fast block motion estimation, IEEE Trans. CSVT 12(5),
 * 2002. */

#include <c63/motion_kernel.h>

static void find(c63_motion_block* block) {
  static const int hexagon[6][2] = {{-2, 0}, {-1, -2}, {1, -2}, {2, 0}, {1, 2}, {-1, 2}};
  for (int moved = 1; moved;) {
    const int x = block->x, y = block->y;
    moved = 0;
    for (int i = 0; i < 6; ++i) moved |= c63_motion_try(block, x + hexagon[i][0], y + hexagon[i][1]);
  }
  const int x = block->x, y = block->y;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) c63_motion_try(block, x + dx, y + dy);
  }
}

C63_MOTION_EACH_BLOCK(find)
