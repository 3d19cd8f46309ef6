/* Pyramid search: exact search on planes of a quarter of the width and height, then at each larger level a small search
 * around the result. M. Bierling: Displacement estimation by hierarchical blockmatching, SPIE Visual Communications and
 * Image Processing, 1988. */

#include <c63/motion_kernel.h>
#include <stdlib.h>

enum { kLevels = 3 };

/* A plane with half the width and height of the level before it. Rows have no gaps. */
typedef struct level {
  unsigned char* samples;
  int width, height;
} level;

static level halved(const unsigned char* samples, long long pitch, int width, int height) {
  level l = {malloc((size_t)(width / 2) * (size_t)(height / 2)), width / 2, height / 2};
  if (l.samples == NULL) abort();
  for (int y = 0; y < l.height; ++y) {
    const unsigned char* a = samples + 2 * y * pitch;
    for (int x = 0; x < l.width; ++x) {
      l.samples[y * l.width + x] =
          (unsigned char)((a[2 * x] + a[2 * x + 1] + a[pitch + 2 * x] + a[pitch + 2 * x + 1] + 2) / 4);
    }
  }
  return l;
}

/* Returns the SAD of two squares of `side` samples. Both must be inside their planes. */
static unsigned sad_of(const level* current, int x0, int y0, const level* reference, int x, int y, int side) {
  unsigned sad = 0;
  for (int i = 0; i < side; ++i) {
    const unsigned char* a = current->samples + (y0 + i) * current->width + x0;
    const unsigned char* b = reference->samples + (y + i) * reference->width + x;
    for (int j = 0; j < side; ++j) sad += abs(a[j] - b[j]);
  }
  return sad;
}

/* Finds the best vector within `reach` samples of (vx, vy), for the square at (x0, y0). */
static void refine(const level* current, const level* reference, int x0, int y0, int side, int reach, int* vx,
                   int* vy) {
  unsigned best = ~0u;
  int best_x = 0, best_y = 0;
  for (int y = *vy - reach; y <= *vy + reach; ++y) {
    for (int x = *vx - reach; x <= *vx + reach; ++x) {
      if (x0 + x < 0 || y0 + y < 0 || x0 + x + side > reference->width || y0 + y + side > reference->height) continue;
      const unsigned sad = sad_of(current, x0, y0, reference, x0 + x, y0 + y, side);
      if (sad < best) best = sad, best_x = x, best_y = y;
    }
  }
  *vx = best_x, *vy = best_y;
}

C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job) {
  /* Levels 1 and 2; level 0 is the job itself. */
  level current[kLevels] = {{NULL, 0, 0}}, reference[kLevels] = {{NULL, 0, 0}};
  current[1] = halved(job->current, job->current_pitch, job->width, job->height);
  reference[1] = halved(job->reference, job->reference_pitch, job->width, job->height);
  current[2] = halved(current[1].samples, current[1].width, current[1].width, current[1].height);
  reference[2] = halved(reference[1].samples, reference[1].width, reference[1].width, reference[1].height);
  for (int row = 0; row < job->height / 8; ++row) {
    for (int column = 0; column < job->width / 8; ++column) {
      c63_motion_block block = c63_motion_begin(job, column, row);
      /* An 8x8 block has 2x2 samples at level 2, too few to match. So 4x4 samples around it are used. */
      const int x2 = c63_motion_clamp(2 * column - 1, 0, current[2].width - 4);
      const int y2 = c63_motion_clamp(2 * row - 1, 0, current[2].height - 4);
      int vx = 0, vy = 0;
      if (current[2].width >= 4 && current[2].height >= 4) {
        refine(&current[2], &reference[2], x2, y2, 4, job->range / 4, &vx, &vy);
        vx *= 2, vy *= 2;
        refine(&current[1], &reference[1], 4 * column, 4 * row, 4, 1, &vx, &vy);
      }
      const int x = c63_motion_clamp(block.x0 + 2 * vx, block.left, block.right - 1);
      const int y = c63_motion_clamp(block.y0 + 2 * vy, block.top, block.bottom - 1);
      for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) c63_motion_try(&block, x + dx, y + dy);
      }
      c63_motion_store(&block);
    }
  }
  for (int i = 1; i < kLevels; ++i) free(current[i].samples), free(reference[i].samples);
}
