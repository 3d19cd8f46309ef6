/* Stage "predict": motion compensation. */
#include "c63.h"

#include <string.h>

void predict_plane(uint8_t *prediction, const uint8_t *reference, const struct plane_size *size,
                   const struct block_motion *motion) {
  for (int by = 0; by < size->blocks_y; ++by) {
    for (int bx = 0; bx < size->blocks_x; ++bx) {
      const struct block_motion *vector = &motion[by * size->blocks_x + bx];
      if (!vector->used) continue;
      uint8_t *to = prediction + (size_t)by * BLOCK * size->width + bx * BLOCK;
      const uint8_t *from = reference + (size_t)(by * BLOCK + vector->y) * size->width + bx * BLOCK + vector->x;
      for (int y = 0; y < BLOCK; ++y) memcpy(to + (size_t)y * size->width, from + (size_t)y * size->width, BLOCK);
    }
  }
}
