// Three-step search: nine candidates around the best one so far. Their distance is halved each time.
// T. Koga, K. Iinuma, A. Hirano, Y. Iijima, T. Ishiguro: Motion-compensated interframe coding for video conferencing,
// NTC 1981.

#include <c63/motion_kernel.h>

// A warp searches one block. Each lane tries a candidate, then all lanes know the best one.
C63_MOTION_SHAPE({32, 1}, {1, 1}, {0, 0, 0});

__device__ void find(c63_motion_block* block) {
  const int lane = threadIdx.x;
  int step = 1;
  while (2 * step < block->job->range) step *= 2;
  for (; step >= 1; step /= 2) c63_motion_try_lanes(block, block->x + (lane % 3 - 1) * step, block->y + (lane / 3 - 1) * step, lane < 9);
}

C63_MOTION_KERNEL void __launch_bounds__(32) c63_motion(const __grid_constant__ c63_motion_batch batch) {
  const c63_motion_job& job = batch.jobs[blockIdx.z];
  if (blockIdx.x >= job.width / 8 || blockIdx.y >= job.height / 8) return;
  c63_motion_block block = c63_motion_begin(&job, blockIdx.x, blockIdx.y);
  find(&block);
  if (threadIdx.x == 0) c63_motion_store(&block);
}
