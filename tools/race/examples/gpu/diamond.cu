// Diamond search: a large diamond of candidates moves until its centre is the best, then a small one ends the search.
// S. Zhu, K.-K. Ma: A new diamond search algorithm for fast block-matching motion estimation, IEEE Trans. Image
// Processing 9(2), 2000.

#include <c63/motion_kernel.h>

// A warp searches one block. Each lane tries a candidate, then all lanes know the best one.

__constant__ signed char large[8][2] = {{0, -2}, {-1, -1}, {1, -1}, {-2, 0}, {2, 0}, {-1, 1}, {1, 1}, {0, 2}};
__constant__ signed char small[4][2] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};

__device__ void find(c63_motion_block* block) {
  const int lane = threadIdx.x;
  while (c63_motion_try_lanes(block, block->x + large[lane % 8][0], block->y + large[lane % 8][1], lane < 8)) {
  }
  c63_motion_try_lanes(block, block->x + small[lane % 4][0], block->y + small[lane % 4][1], lane < 4);
}

C63_MOTION_EACH_BLOCK(find)
