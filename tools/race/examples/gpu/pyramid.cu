// Pyramid search: exact search on planes of a quarter of the width and height, then at each larger level a small search
// around the result. It needs three launches, so it has a host part. M. Bierling: Displacement estimation by
// hierarchical blockmatching, SPIE Visual Communications and Image Processing, 1988.

#include <c63/motion_kernel.h>

#if defined(C63_MOTION_HOST)

int c63_motion_launch(const c63_motion_batch* batch, const c63_motion_gpu* gpu) {
  int width = 0, height = 0;
  for (int i = 0; i < batch->count; ++i) {
    if (batch->jobs[i].width > width) width = batch->jobs[i].width;
    if (batch->jobs[i].height > height) height = batch->jobs[i].height;
  }
  // Each job has two planes, and each is stored at half and at a quarter of its width and height. `slot` bytes are
  // enough for both sizes of one plane.
  long long slot = (long long)width * height / 2;
  void* levels = gpu->scratch(gpu, 2 * slot * batch->count);
  if (levels == nullptr) return 2;  // cudaErrorMemoryAllocation
  for (int level = 1; level <= 2; ++level) {
    const int grid[3] = {(width >> level) / 16 + 1, (height >> level) / 16 + 1, 2 * batch->count};
    const int threads[3] = {16, 16, 1};
    void* arguments[] = {(void*)batch, &levels, &slot, &level};
    if (const int status = gpu->launch(gpu, "halve", grid, threads, 0, arguments)) return status;
  }
  const int grid[3] = {width / 8, height / 8, batch->count};
  const int threads[3] = {32, 1, 1};
  void* arguments[] = {(void*)batch, &levels, &slot};
  return gpu->launch(gpu, "search", grid, threads, 0, arguments);
}

#else

struct Plane {
  const unsigned char* samples;
  long long pitch;
  int width, height;
};

// Plane 0 is the current one, 1 the reference.
__device__ Plane level_of(const c63_motion_job& job, int number, int plane, int level, unsigned char* levels,
                          long long slot) {
  if (level == 0)
    return {plane == 0 ? job.current : job.reference, plane == 0 ? job.current_pitch : job.reference_pitch, job.width,
            job.height};
  unsigned char* base = levels + (2 * number + plane) * slot + (level == 2 ? job.width * job.height / 4 : 0);
  return {base, job.width >> level, job.width >> level, job.height >> level};
}

C63_MOTION_KERNEL void halve(const __grid_constant__ c63_motion_batch batch, unsigned char* levels, long long slot,
                             int level) {
  const int number = blockIdx.z / 2, plane = blockIdx.z % 2;
  const c63_motion_job& job = batch.jobs[number];
  const Plane from = level_of(job, number, plane, level - 1, levels, slot);
  const Plane to = level_of(job, number, plane, level, levels, slot);
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= to.width || y >= to.height) return;
  const unsigned char* a = from.samples + 2 * y * from.pitch + 2 * x;
  const_cast<unsigned char*>(to.samples)[y * to.pitch + x] = (a[0] + a[1] + a[from.pitch] + a[from.pitch + 1] + 2) / 4;
}

__device__ unsigned sad_of(const Plane& current, int x0, int y0, const Plane& reference, int x, int y, int side) {
  unsigned sad = 0;
  for (int i = 0; i < side; ++i) {
    const unsigned char* a = current.samples + (y0 + i) * current.pitch + x0;
    const unsigned char* b = reference.samples + (y + i) * reference.pitch + x;
    for (int j = 0; j < side; ++j) sad += abs(a[j] - b[j]);
  }
  return sad;
}

// The positions that may be tried. right and bottom are exclusive.
struct Window {
  int left, top, right, bottom;
};

// Finds the best position within `reach` samples of (x, y), by all lanes of a warp. A key holds SAD and candidate
// number, so that the smallest key is the best. Returns the SAD.
__device__ unsigned refine(const Plane& current, const Plane& reference, int x0, int y0, int side, int reach,
                           Window window, int& x, int& y) {
  const int width = 2 * reach + 1;
  unsigned best = 0xFFFFFFFF;
  for (int i = threadIdx.x; i < width * width; i += 32) {
    const int tried_x = x - reach + i % width, tried_y = y - reach + i / width;
    if (tried_x < window.left || tried_x >= window.right || tried_y < window.top || tried_y >= window.bottom) continue;
    best = min(best, sad_of(current, x0, y0, reference, tried_x, tried_y, side) << 16 | i);
  }
  best = c63_motion_warp_min(best);
  if (best == 0xFFFFFFFF) return best;
  const int i = best & 0xFFFF;
  x += i % width - reach, y += i / width - reach;
  return best >> 16;
}

C63_MOTION_KERNEL void search(const __grid_constant__ c63_motion_batch batch, unsigned char* levels, long long slot) {
  const int number = blockIdx.z;
  const c63_motion_job& job = batch.jobs[number];
  const int column = blockIdx.x, row = blockIdx.y, x0 = 8 * column, y0 = 8 * row;
  if (x0 >= job.width || y0 >= job.height) return;
  c63_motion_block block = c63_motion_begin(&job, column, row);  // at the zero vector
  const Window window = {block.left, block.top, block.right, block.bottom};

  int vx = 0, vy = 0;
  Plane current[3], reference[3];
  for (int level = 0; level < 3; ++level) {
    current[level] = level_of(job, number, 0, level, levels, slot);
    reference[level] = level_of(job, number, 1, level, levels, slot);
  }
  if (current[2].width >= 4 && current[2].height >= 4) {
    // An 8x8 block has 2x2 samples at level 2, too few to match. So 4x4 samples around it are used.
    const int x2 = min(max(2 * column - 1, 0), current[2].width - 4),
              y2 = min(max(2 * row - 1, 0), current[2].height - 4);
    int x = x2, y = y2;
    refine(current[2], reference[2], x2, y2, 4, job.range / 4, {0, 0, current[2].width - 3, current[2].height - 3}, x,
           y);
    vx = 2 * (x - x2), vy = 2 * (y - y2);
    x = 4 * column + vx, y = 4 * row + vy;
    refine(current[1], reference[1], 4 * column, 4 * row, 4, 1, {0, 0, current[1].width - 3, current[1].height - 3}, x,
           y);
    vx = 2 * (x - 4 * column), vy = 2 * (y - 4 * row);
  }
  int x = c63_motion_clamp(x0 + vx, window.left, window.right - 1);
  int y = c63_motion_clamp(y0 + vy, window.top, window.bottom - 1);
  const unsigned sad = refine(current[0], reference[0], x0, y0, 8, 2, window, x, y);
  if (sad < block.sad) block.sad = sad, block.x = x, block.y = y;
  if (threadIdx.x == 0) c63_motion_store(&block);
}

#endif
