/* Stage "search": finds where each block was in the previous picture. It takes nearly all of the encoder's time. */
#include "c63.h"

#include <limits.h>
#include <stdlib.h>

/* Returns the sum of absolute differences of two blocks of 8x8 samples. */
static int sad_8x8(const uint8_t *a, const uint8_t *b, int stride) {
  int sum = 0;
  for (int y = 0; y < BLOCK; ++y) {
    for (int x = 0; x < BLOCK; ++x) sum += abs(a[y * stride + x] - b[y * stride + x]);
  }
  return sum;
}

/* Tries every candidate within the range. The smallest sum wins; of equal sums, the first in raster order wins. */
static void search_block(const uint8_t *source, const uint8_t *reference, const struct plane_size *size, int range, int block_x,
                         int block_y, struct block_motion *motion) {
  const int x0 = block_x * BLOCK;
  const int y0 = block_y * BLOCK;
  /* The right and lower bounds are exclusive, so a block in the last column cannot have the vector 0. */
  const int left = x0 - range < 0 ? 0 : x0 - range;
  const int top = y0 - range < 0 ? 0 : y0 - range;
  const int right = x0 + range > size->width - BLOCK ? size->width - BLOCK : x0 + range;
  const int bottom = y0 + range > size->height - BLOCK ? size->height - BLOCK : y0 + range;

  const uint8_t *block = source + (size_t)y0 * size->width + x0;
  int best = INT_MAX;
  motion->x = 0;
  motion->y = 0;
  motion->used = 1;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      const int sad = sad_8x8(block, reference + (size_t)y * size->width + x, size->width);
      if (sad < best) {
        best = sad;
        motion->x = (int8_t)(x - x0);
        motion->y = (int8_t)(y - y0);
      }
    }
  }
}

void search_plane(const uint8_t *source, const uint8_t *reference, const struct plane_size *size, int range,
                  struct block_motion *motion) {
  for (int y = 0; y < size->blocks_y; ++y) {
    for (int x = 0; x < size->blocks_x; ++x) {
      search_block(source, reference, size, range, x, y, &motion[y * size->blocks_x + x]);
    }
  }
}
