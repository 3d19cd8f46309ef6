// Hexagon search: six candidates at nearly equal distance move until their centre is the best. Then the eight
// neighbours of the centre are tried.
// C. Zhu, X. Lin, L.-P. Chau: Hexagon-based search pattern for fast block motion estimation, IEEE Trans. CSVT 12(5),
// 2002.

#include <c63/motion_kernel.h>

// A warp searches one block. Each lane tries a candidate, then all lanes know the best one.

__constant__ signed char hexagon[6][2] = {{-2, 0}, {-1, -2}, {1, -2}, {2, 0}, {1, 2}, {-1, 2}};

__device__ void find(c63_motion_block* block) {
  const int lane = threadIdx.x;
  while (c63_motion_try_lanes(block, block->x + hexagon[lane % 6][0], block->y + hexagon[lane % 6][1], lane < 6)) {
  }
  c63_motion_try_lanes(block, block->x + lane % 3 - 1, block->y + lane / 3 - 1, lane < 9);
}

C63_MOTION_EACH_BLOCK(find)
