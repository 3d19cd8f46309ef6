/* Diamond search: a large diamond of candidates moves until its centre is the best, then a small one ends the search.
 * S. Zhu, K.-K. Ma: A new diamond search algorithm for fast block-matching motion estimation, IEEE Trans. Image
 * Processing 9(2), 2000. */

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

static void find(search* s) {
  static const int large[8][2] = {{0, -2}, {-1, -1}, {1, -1}, {-2, 0}, {2, 0}, {-1, 1}, {1, 1}, {0, 2}};
  static const int small[4][2] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};
  for (int moved = 1; moved;) {
    const int x = s->x, y = s->y;
    moved = 0;
    for (int i = 0; i < 8; ++i) moved |= try_at(s, x + large[i][0], y + large[i][1]);
  }
  const int x = s->x, y = s->y;
  for (int i = 0; i < 4; ++i) try_at(s, x + small[i][0], y + small[i][1]);
}

C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job) {
  for (int row = 0; row < job->height / 8; ++row) {
    for (int column = 0; column < job->width / 8; ++column) {
      search s;
      begin(&s, job, column, row);
      find(&s);
      store(&s, column, row);
    }
  }
}
