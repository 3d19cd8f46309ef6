/* CPU searches as students write them, each with one mistake: MISTAKE is its number, defined by a line before this text. 0 is
 * right. wrong_searches_test.cpp races all of them and compares what c63bench says with the causes listed there. */

#include <c63/motion_kernel.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

static unsigned sad_of(const unsigned char* a, long long a_pitch, const unsigned char* b, long long b_pitch) {
  unsigned sad = 0;
#if MISTAKE == 22 /* the last row is left out */
  for (int y = 0; y < 7; ++y) {
#else
  for (int y = 0; y < 8; ++y) {
#endif
#if MISTAKE == 37 /* rows are read sixteen at a time */
    unsigned char row_a[16], row_b[16];
    memcpy(row_a, a + y * a_pitch, 16);
    memcpy(row_b, b + y * b_pitch, 16);
    for (int x = 0; x < 8; ++x) sad += abs(row_a[x] - row_b[x]) + (row_b[15] > 300);
    __asm__ volatile("" : : "m"(row_a), "m"(row_b));
#elif MISTAKE == 23 /* the last column is left out */
    for (int x = 0; x < 7; ++x) sad += abs(a[y * a_pitch + x] - b[y * b_pitch + x]);
#elif MISTAKE == 17 /* differences wrap below zero */
    for (int x = 0; x < 8; ++x) sad += (unsigned char)(a[y * a_pitch + x] - b[y * b_pitch + x]);
#elif MISTAKE == 18 /* samples are signed */
    for (int x = 0; x < 8; ++x) sad += abs((signed char)a[y * a_pitch + x] - (signed char)b[y * b_pitch + x]);
#elif MISTAKE == 19 /* squares */
    for (int x = 0; x < 8; ++x) sad += (a[y * a_pitch + x] - b[y * b_pitch + x]) * (a[y * a_pitch + x] - b[y * b_pitch + x]);
#elif MISTAKE == 20 /* no absolute value */
    for (int x = 0; x < 8; ++x) sad += a[y * a_pitch + x] - b[y * b_pitch + x];
#else
    for (int x = 0; x < 8; ++x) sad += abs(a[y * a_pitch + x] - b[y * b_pitch + x]);
#endif
  }
#if MISTAKE == 20
  return abs((int)sad);
#elif MISTAKE == 21 /* SADs in 8 bits */
  return sad & 255;
#else
  return sad;
#endif
}

#if MISTAKE == 26 /* threads that share the best candidate */
static unsigned shared_best;
static int shared_x, shared_y;
typedef struct part {
  const c63_motion_job* job;
  const unsigned char* current;
  int left, right, top, bottom;
} part;
static void* search_part(void* argument) {
  const part* p = argument;
  for (int y = p->top; y < p->bottom; ++y) {
    for (int x = p->left; x < p->right; ++x) {
      const unsigned sad = sad_of(p->current, p->job->current_pitch, p->job->reference + y * p->job->reference_pitch + x, p->job->reference_pitch);
      if (sad < *(volatile unsigned*)&shared_best) {
        shared_x = x;
        shared_y = y;
        shared_best = sad;
      }
    }
  }
  return NULL;
}
#endif

C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job) {
#if MISTAKE == 3 /* right only at one size */
  const int columns = 22, rows = 18;
#else
  const int columns = job->width / 8, rows = job->height / 8;
#endif
#if MISTAKE == 4 /* width for pitch */
  const long long current_pitch = job->width, reference_pitch = job->width;
#elif MISTAKE == 5 /* one pitch for both */
  const long long current_pitch = job->current_pitch, reference_pitch = job->current_pitch;
#else
  const long long current_pitch = job->current_pitch, reference_pitch = job->reference_pitch;
#endif
#if MISTAKE == 6 /* luma's range for chroma */
  const int range = 16;
#elif MISTAKE == 41 /* chroma's range for luma */
  const int range = larger(1, job->range / 2);
#else
  const int range = job->range;
#endif
  const unsigned char* from = job->current;
  const unsigned char* in = job->reference;
#if MISTAKE == 39 /* planes swapped */
  from = job->reference, in = job->current;
#endif
#if MISTAKE == 40 /* the results of the call before */
  static c63_motion_vector kept_vectors[4096];
  static unsigned short kept_sads[4096];
  memcpy(job->vectors, kept_vectors, (size_t)(columns * rows) * 2);
  memcpy(job->sads, kept_sads, (size_t)(columns * rows) * 2);
  c63_motion_vector* const vectors = kept_vectors;
  unsigned short* const sads = kept_sads;
#elif MISTAKE == 28 /* a pointer that is not set */
  c63_motion_vector* const vectors = job->vectors;
  unsigned short* volatile const sads = NULL;
#else
  c63_motion_vector* const vectors = job->vectors;
  unsigned short* const sads = job->sads;
#endif
#if MISTAKE == 24 /* kept from call to call */
  static unsigned best = ~0u;
#endif
#if MISTAKE == 42 /* a division by zero */
  volatile int zero = 0;
  if (job->range / 4 == 0) zero = 100 / zero;
#elif MISTAKE == 43 /* ends the process */
  exit(0);
#elif MISTAKE == 38 /* writes into a plane */
  ((unsigned char*)job->current)[0] = 0;
#elif MISTAKE == 44 /* memory that is never given back, and not asked whether it is there */
  for (int i = 0; i < 1000; ++i) memset(malloc(64 << 20), 1, 4096);
#endif
  int end_column = columns, end_row = rows;
#if MISTAKE == 1 /* the last column is left out */
  end_column = columns - 1;
#elif MISTAKE == 2 /* the last row is left out */
  end_row = rows - 1;
#endif
  for (int row = 0; row < end_row; ++row) {
    for (int column = 0; column < end_column; ++column) {
      const int x0 = 8 * column, y0 = 8 * row;
      const unsigned char* current = from + y0 * current_pitch + x0;
      int left = larger(0, x0 - range), right = smaller(job->width - 8, x0 + range);
      int top = larger(0, y0 - range), bottom = smaller(job->height - 8, y0 + range);
#if MISTAKE == 7 /* the border is included */
      right = smaller(job->width - 7, x0 + range), bottom = smaller(job->height - 7, y0 + range);
#elif MISTAKE == 8 /* +range is included */
      right = smaller(job->width - 8, x0 + range + 1), bottom = smaller(job->height - 8, y0 + range + 1);
#elif MISTAKE == 9 /* one column short at the right edge */
      if (x0 + range > job->width - 8) right = job->width - 9;
#elif MISTAKE == 10 /* the left edge begins at 1 */
      left = larger(1, x0 - range);
#elif MISTAKE == 11 /* the top edge begins at 1 */
      top = larger(1, y0 - range);
#elif MISTAKE == 12 /* -range is left out */
      left = larger(0, x0 - range + 1);
#elif MISTAKE == 13 /* one row short at the bottom edge */
      if (y0 + range > job->height - 8) bottom = job->height - 9;
#elif MISTAKE == 46 /* no edge cuts the window */
      left = x0 - range, right = x0 + range, top = y0 - range, bottom = y0 + range;
#endif
      if (left >= right || top >= bottom) left = x0, right = x0 + 1, top = y0, bottom = y0 + 1;
      int best_x = 0, best_y = 0;
#if MISTAKE == 24
#elif MISTAKE == 25 /* memory that nobody has set */
      unsigned best = *(volatile unsigned*)((char*)malloc(4096) + 8 * (rand() % 8)) % 65536 + (unsigned)(rand() % 3000);
#else
      unsigned best = ~0u;
#endif
#if MISTAKE == 26
      shared_best = ~0u;
      part parts[2] = {{job, current, left, right, top, (top + bottom) / 2}, {job, current, left, right, (top + bottom) / 2, bottom}};
      if (columns * rows <= 120) {
        pthread_t threads[2];
        for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, search_part, &parts[1 - i]);
        for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
      } else {
        for (int i = 0; i < 2; ++i) search_part(&parts[i]);
      }
      best = shared_best, best_x = shared_x, best_y = shared_y;
#elif MISTAKE == 15 /* columns outside, rows inside */
      for (int x = left; x < right; ++x) {
        for (int y = top; y < bottom; ++y) {
#else
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
#endif
#if MISTAKE != 26
          const unsigned sad = sad_of(current, current_pitch, in + y * reference_pitch + x, reference_pitch);
#if MISTAKE == 14 /* <= for < */
          if (sad <= best) {
#elif MISTAKE == 16 /* the zero vector is preferred */
          if (sad < best || (sad == best && x == x0 && y == y0)) {
#else
          if (sad < best) {
#endif
            best = sad;
            best_x = x;
            best_y = y;
          }
#if MISTAKE == 27 /* a loop that does not end */
          if (x == right - 1 && column == 3) --x;
#endif
        }
      }
#endif
#if MISTAKE == 19
      best = sad_of(current, current_pitch, in + best_y * reference_pitch + best_x, reference_pitch) / 16;
#endif
      int x = best_x - x0, y = best_y - y0;
#if MISTAKE == 29 /* components swapped */
      x = best_y - y0, y = best_x - x0;
#elif MISTAKE == 30 /* from the window's corner */
      x = best_x - left, y = best_y - top;
#elif MISTAKE == 33 /* components in 4 bits */
      x = ((x + 8) & 15) - 8, y = ((y + 8) & 15) - 8;
#elif MISTAKE == 36 /* right only the first time */
      static int searched = 0;
      if (searched) x = -x;
      searched |= row == rows - 1 && column == columns - 1;
#elif MISTAKE == 47 /* places in the plane */
      x = best_x, y = best_y;
#elif MISTAKE == 48 /* the wrong sign */
      x = -x, y = -y;
#endif
#if MISTAKE == 31 /* column by column */
      const int number = column * rows + row;
#elif MISTAKE == 32 /* one block too far */
      const int number = row * columns + column + 1;
#else
      const int number = row * columns + column;
#endif
      vectors[number].x = (signed char)x;
      vectors[number].y = (signed char)y;
#if MISTAKE == 34 /* the SAD in 8 bits */
      sads[number] = (unsigned char)best;
#elif MISTAKE != 35 /* SADs are not written */
      sads[number] = (unsigned short)best;
#endif
    }
  }
}
