/* Stage "search": where was each block in the previous picture? Nearly all of the encoder's time is spent here. */
#include "c63.h"

#include <emmintrin.h>
#include <limits.h>
#include <stdlib.h>

/* A block in registers, two rows in each. It is loaded once. */
struct rows {
  __m128i pair[BLOCK / 2];
};

static struct rows load_rows(const uint8_t *block, int stride) {
  struct rows rows;
  for (int i = 0; i < BLOCK / 2; ++i) {
    const __m128i even = _mm_loadl_epi64((const __m128i *)(block + (size_t)(2 * i) * stride));
    const __m128i odd = _mm_loadl_epi64((const __m128i *)(block + (size_t)(2 * i + 1) * stride));
    rows.pair[i] = _mm_unpacklo_epi64(even, odd);
  }
  return rows;
}

/* The sum of absolute differences. One instruction (PSADBW) computes the sums of two rows. */
static int sad_8x8(const struct rows *a, const uint8_t *b, int stride) {
  const struct rows rows = load_rows(b, stride);
  __m128i sum = _mm_sad_epu8(a->pair[0], rows.pair[0]);
  for (int i = 1; i < BLOCK / 2; ++i) sum = _mm_add_epi32(sum, _mm_sad_epu8(a->pair[i], rows.pair[i]));
  return _mm_cvtsi128_si32(sum) + _mm_extract_epi16(sum, 4);
}

/* Tries every position within the range. The smallest sum wins; of equal sums, the first in raster order.
 * The difference of two blocks' sums is at most the sum of their absolute differences. So a position whose sum differs
 * by the best SAD so far, or by more, cannot win, and its SAD is not computed (Li and Salari, 1995). */
static void search_block(const uint8_t *source, const uint8_t *reference, const uint16_t *sums, const struct plane_size *size,
                         int range, int block_x, int block_y, struct block_motion *motion) {
  const int x0 = block_x * BLOCK;
  const int y0 = block_y * BLOCK;
  /* The right and lower bounds are exclusive: a block in the last column never tries the vector 0. */
  const int left = x0 - range < 0 ? 0 : x0 - range;
  const int top = y0 - range < 0 ? 0 : y0 - range;
  const int right = x0 + range > size->width - BLOCK ? size->width - BLOCK : x0 + range;
  const int bottom = y0 + range > size->height - BLOCK ? size->height - BLOCK : y0 + range;

  const struct rows block = load_rows(source + (size_t)y0 * size->width + x0, size->width);
  const __m128i zero = _mm_setzero_si128();
  int own_sum = 0;
  for (int i = 0; i < BLOCK / 2; ++i) {
    const __m128i sum = _mm_sad_epu8(block.pair[i], zero);
    own_sum += _mm_cvtsi128_si32(sum) + _mm_extract_epi16(sum, 4);
  }
  int best = INT_MAX;
  motion->x = 0;
  motion->y = 0;
  motion->used = 1;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      if (abs(own_sum - sums[(size_t)y * size->width + x]) >= best) continue;
      const int sad = sad_8x8(&block, reference + (size_t)y * size->width + x, size->width);
      if (sad < best) {
        best = sad;
        motion->x = (int8_t)(x - x0);
        motion->y = (int8_t)(y - y0);
      }
    }
  }
}

/* Computes the sum of the 8x8 block at every position of the reference: sums of columns first, then of rows. */
static void block_sums(const uint8_t *reference, const struct plane_size *size, uint16_t *sums) {
  uint16_t *columns = (uint16_t *)zeroed((size_t)size->width, sizeof(uint16_t));
  for (int y = 0; y < size->height; ++y) {
    for (int x = 0; x < size->width; ++x) {
      columns[x] = (uint16_t)(columns[x] + reference[(size_t)y * size->width + x]);
      if (y >= BLOCK) columns[x] = (uint16_t)(columns[x] - reference[(size_t)(y - BLOCK) * size->width + x]);
    }
    if (y < BLOCK - 1) continue;
    unsigned sum = 0;
    for (int x = 0; x < size->width; ++x) {
      sum += columns[x];
      if (x >= BLOCK) sum -= columns[x - BLOCK];
      if (x >= BLOCK - 1) sums[(size_t)(y - BLOCK + 1) * size->width + (x - BLOCK + 1)] = (uint16_t)sum;
    }
  }
  free(columns);
}

void search_plane(const uint8_t *source, const uint8_t *reference, const struct plane_size *size, int range,
                  struct block_motion *motion) {
  uint16_t *sums = (uint16_t *)zeroed((size_t)size->width * size->height, sizeof(uint16_t));
  block_sums(reference, size, sums);
  for (int y = 0; y < size->blocks_y; ++y) {
    for (int x = 0; x < size->blocks_x; ++x) {
      search_block(source, reference, sums, size, range, x, y, &motion[y * size->blocks_x + x]);
    }
  }
  free(sums);
}
