/* Stages "transform" and "reconstruct": cosine transform and quantization, and their inverse.
 *
 * The bytes depend on each rounding here: each product and each sum is rounded to float separately, in this order. A
 * fused multiply-add rounds only once, so the Makefile forbids it (-ffp-contract=off, and -fmad=false for nvcc). */
#include "c63.h"

#include <math.h>

static const float kHalfRoot = 0.70710678118654f; /* the root of 1/2 */

static void transpose(const float in[BLOCK_SAMPLES], float out[BLOCK_SAMPLES]) {
  for (int y = 0; y < BLOCK; ++y) {
    for (int x = 0; x < BLOCK; ++x) out[x * BLOCK + y] = in[y * BLOCK + x];
  }
}

/* Transforms samples to frequencies, row by row. */
static void forward_rows(const float in[BLOCK_SAMPLES], float out[BLOCK_SAMPLES]) {
  for (int y = 0; y < BLOCK; ++y) {
    for (int i = 0; i < BLOCK; ++i) {
      float sum = 0;
      for (int j = 0; j < BLOCK; ++j) sum += in[y * BLOCK + j] * cosines[j][i];
      out[y * BLOCK + i] = sum;
    }
  }
}

/* Transforms frequencies to samples, row by row. */
static void inverse_rows(const float in[BLOCK_SAMPLES], float out[BLOCK_SAMPLES]) {
  for (int y = 0; y < BLOCK; ++y) {
    for (int i = 0; i < BLOCK; ++i) {
      float sum = 0;
      for (int j = 0; j < BLOCK; ++j) sum += in[y * BLOCK + j] * cosines[i][j];
      out[y * BLOCK + i] = sum;
    }
  }
}

/* The first row and column are scaled by sqrt(1/2). Their corner is scaled twice, and rounded twice. */
static void scale(float block[BLOCK_SAMPLES]) {
  for (int i = 0; i < BLOCK; ++i) block[i] *= kHalfRoot;
  for (int i = 0; i < BLOCK; ++i) block[i * BLOCK] *= kHalfRoot;
}

static void transform_block(const int16_t residual[BLOCK_SAMPLES], const struct quantizer *quantizer, int16_t *levels) {
  float a[BLOCK_SAMPLES], b[BLOCK_SAMPLES];
  for (int i = 0; i < BLOCK_SAMPLES; ++i) a[i] = residual[i];
  forward_rows(a, b);
  transpose(b, a);
  forward_rows(a, b);
  transpose(b, a);
  scale(a);
  /* Must divide: multiplying by 1 / quantizer sometimes rounds differently. */
  for (int k = 0; k < BLOCK_SAMPLES; ++k) levels[k] = (int16_t)roundf(a[zigzag[k]] / (4.0f * quantizer->step[k]));
}

static void inverse_block(const int16_t *levels, const struct quantizer *quantizer, int16_t residual[BLOCK_SAMPLES]) {
  float a[BLOCK_SAMPLES], b[BLOCK_SAMPLES];
  for (int k = 0; k < BLOCK_SAMPLES; ++k) a[zigzag[k]] = roundf((float)(levels[k] * quantizer->step[k]) / 4.0f);
  scale(a);
  inverse_rows(a, b);
  transpose(b, a);
  inverse_rows(a, b);
  transpose(b, a);
  for (int i = 0; i < BLOCK_SAMPLES; ++i) residual[i] = (int16_t)(int32_t)a[i];
}

void transform_plane(const uint8_t *source, const uint8_t *prediction, const struct plane_size *size,
                     const struct quantizer *quantizer, int16_t *levels) {
  for (int by = 0; by < size->blocks_y; ++by) {
    for (int bx = 0; bx < size->blocks_x; ++bx) {
      const size_t corner = (size_t)by * BLOCK * size->width + bx * BLOCK;
      int16_t residual[BLOCK_SAMPLES];
      for (int y = 0; y < BLOCK; ++y) {
        for (int x = 0; x < BLOCK; ++x) {
          const size_t i = corner + (size_t)y * size->width + x;
          residual[y * BLOCK + x] = (int16_t)(source[i] - prediction[i]);
        }
      }
      transform_block(residual, quantizer, levels + (size_t)(by * size->blocks_x + bx) * BLOCK_SAMPLES);
    }
  }
}

static uint8_t clamped(int value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

void reconstruct_plane(const int16_t *levels, const uint8_t *prediction, const struct plane_size *size,
                       const struct quantizer *quantizer, uint8_t *reconstruction) {
  for (int by = 0; by < size->blocks_y; ++by) {
    for (int bx = 0; bx < size->blocks_x; ++bx) {
      const size_t corner = (size_t)by * BLOCK * size->width + bx * BLOCK;
      int16_t residual[BLOCK_SAMPLES];
      inverse_block(levels + (size_t)(by * size->blocks_x + bx) * BLOCK_SAMPLES, quantizer, residual);
      for (int y = 0; y < BLOCK; ++y) {
        for (int x = 0; x < BLOCK; ++x) {
          const size_t i = corner + (size_t)y * size->width + x;
          reconstruction[i] = clamped((int16_t)(residual[y * BLOCK + x] + prediction[i]));
        }
      }
    }
  }
}
