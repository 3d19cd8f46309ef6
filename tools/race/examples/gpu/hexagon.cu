// Hexagon search: six candidates at nearly equal distance move until their centre is the best. Then the eight
// neighbours of the centre are tried.
// C. Zhu, X. Lin, L.-P. Chau: Hexagon-based search pattern for fast block motion estimation, IEEE Trans. CSVT 12(5),
// 2002.

#include <c63/motion_kernel.h>

// A warp searches one block. Each lane tries a candidate, then all lanes know the best one.
C63_MOTION_SHAPE({32, 1}, {1, 1}, {0, 0, 0});

__constant__ signed char hexagon[6][2] = {{-2, 0}, {-1, -2}, {1, -2}, {2, 0}, {1, 2}, {-1, 2}};

__device__ void find(c63_motion_block* block) {
  const int lane = threadIdx.x;
  while (c63_motion_try_lanes(block, block->x + hexagon[lane % 6][0], block->y + hexagon[lane % 6][1], lane < 6)) {
  }
  c63_motion_try_lanes(block, block->x + lane % 3 - 1, block->y + lane / 3 - 1, lane < 9);
}

C63_MOTION_KERNEL void __launch_bounds__(32) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  const c63_motion_job& job = batch.jobs[blockIdx.z];
  if (blockIdx.x >= job.width / 8 || blockIdx.y >= job.height / 8) return;
  c63_motion_block block = c63_motion_begin(&job, blockIdx.x, blockIdx.y);
  find(&block);
  if (threadIdx.x == 0) c63_motion_store(&block);
}
