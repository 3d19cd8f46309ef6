/* Pyramid search: exact search on planes of a quarter of the width and height, then at each larger level a small search
 * around the result. M. Bierling: Displacement estimation by hierarchical blockmatching, SPIE Visual Communications and
 * Image Processing, 1988. */

#include <c63/motion_kernel.h>
#include <stdlib.h>

typedef struct search {
  const c63_motion_job* job;
  int x0, y0;                   /* position of the block */
  int left, top, right, bottom; /* the window; right and bottom are exclusive */
  int x, y;                     /* position of the best candidate */
  unsigned sad;
} search;

static unsigned sad_at(const search* s, int x, int y) {
  const c63_motion_job* job = s->job;
  const unsigned char* a = job->current + s->y0 * job->current_pitch + s->x0;
  const unsigned char* b = job->reference + y * job->reference_pitch + x;
  unsigned sad = 0;
  for (int i = 0; i < 8; ++i, a += job->current_pitch, b += job->reference_pitch) {
    for (int j = 0; j < 8; ++j) sad += abs(a[j] - b[j]);
  }
  return sad;
}

/* Tries a candidate. Returns 1 if it is better than all before it. */
static int try_at(search* s, int x, int y) {
  if (x < s->left || x >= s->right || y < s->top || y >= s->bottom) return 0;
  const unsigned sad = sad_at(s, x, y);
  if (sad >= s->sad) return 0;
  s->sad = sad, s->x = x, s->y = y;
  return 1;
}

static int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

/* Begins at the zero vector, or if it is not allowed, at the nearest candidate. */
static void begin(search* s, const c63_motion_job* job, int column, int row) {
  const int x0 = 8 * column, y0 = 8 * row;
  const int right = job->width - 8, bottom = job->height - 8;
  s->job = job, s->x0 = x0, s->y0 = y0;
  s->left = x0 > job->range ? x0 - job->range : 0;
  s->top = y0 > job->range ? y0 - job->range : 0;
  s->right = x0 + job->range < right ? x0 + job->range : right;
  s->bottom = y0 + job->range < bottom ? y0 + job->range : bottom;
  if (s->left >= s->right || s->top >= s->bottom) s->left = x0, s->right = x0 + 1, s->top = y0, s->bottom = y0 + 1;
  s->x = clamp(x0, s->left, s->right - 1), s->y = clamp(y0, s->top, s->bottom - 1);
  s->sad = sad_at(s, s->x, s->y);
}

static void store(const search* s, int column, int row) {
  const int block = row * (s->job->width / 8) + column;
  s->job->vectors[block].x = (signed char)(s->x - s->x0);
  s->job->vectors[block].y = (signed char)(s->y - s->y0);
  s->job->sads[block] = (unsigned short)s->sad;
}

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
      search s;
      begin(&s, job, column, row);
      /* An 8x8 block has 2x2 samples at level 2, too few to match. So 4x4 samples around it are used. */
      const int x2 = clamp(2 * column - 1, 0, current[2].width - 4), y2 = clamp(2 * row - 1, 0, current[2].height - 4);
      int vx = 0, vy = 0;
      if (current[2].width >= 4 && current[2].height >= 4) {
        refine(&current[2], &reference[2], x2, y2, 4, job->range / 4, &vx, &vy);
        vx *= 2, vy *= 2;
        refine(&current[1], &reference[1], 4 * column, 4 * row, 4, 1, &vx, &vy);
      }
      const int x = clamp(s.x0 + 2 * vx, s.left, s.right - 1), y = clamp(s.y0 + 2 * vy, s.top, s.bottom - 1);
      for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) try_at(&s, x + dx, y + dy);
      }
      store(&s, column, row);
    }
  }
  for (int i = 1; i < kLevels; ++i) free(current[i].samples), free(reference[i].samples);
}
