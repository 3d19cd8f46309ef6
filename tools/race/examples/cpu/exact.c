/* Exact search on the CPU, step 0 of docs/course.md: two loops over the window, and in them two over the samples. */

#include <c63/motion_kernel.h>
#include <stdlib.h>

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

static unsigned sad_of(const unsigned char* a, long long a_pitch, const unsigned char* b, long long b_pitch) {
  unsigned sad = 0;
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) sad += abs(a[y * a_pitch + x] - b[y * b_pitch + x]);
  }
  return sad;
}

C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job) {
  const int columns = job->width / 8, rows = job->height / 8;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int x0 = 8 * column, y0 = 8 * row;
      const unsigned char* current = job->current + y0 * job->current_pitch + x0;
      int left = larger(0, x0 - job->range), right = smaller(job->width - 8, x0 + job->range);
      int top = larger(0, y0 - job->range), bottom = smaller(job->height - 8, y0 + job->range);
      if (left >= right || top >= bottom) left = x0, right = x0 + 1, top = y0, bottom = y0 + 1;
      unsigned best = ~0u;
      c63_motion_vector vector = {0, 0};
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
          const unsigned sad =
              sad_of(current, job->current_pitch, job->reference + y * job->reference_pitch + x, job->reference_pitch);
          if (sad < best) {
            best = sad;
            vector.x = (signed char)(x - x0);
            vector.y = (signed char)(y - y0);
          }
        }
      }
      job->vectors[row * columns + column] = vector;
      job->sads[row * columns + column] = (unsigned short)best;
    }
  }
}
