/* Sizes, memory, and frames in raw files. */
#include "c63.h"

#include <stdlib.h>
#include <string.h>

int layout_init(struct layout *layout, int width, int height) {
  /* A raw frame has width * height samples of Y, and a quarter of that of U and of V. The quarter must be a whole
   * number. */
  if (width < 1 || height < 1 || width > 65535 || height > 65535 || (size_t)width * height % 4 != 0) return -1;
  layout->width = width;
  layout->height = height;
  const int padded_width = (width + MCU - 1) / MCU * MCU;
  const int padded_height = (height + MCU - 1) / MCU * MCU;
  for (int p = 0; p < PLANES; ++p) {
    struct plane_size *size = &layout->plane[p];
    size->width = p == 0 ? padded_width : padded_width / 2;
    size->height = p == 0 ? padded_height : padded_height / 2;
    size->blocks_x = size->width / BLOCK;
    size->blocks_y = size->height / BLOCK;
    size->file_samples = (size_t)width * height / (p == 0 ? 1 : 4);
  }
  return 0;
}

int block_count(const struct plane_size *size) { return size->blocks_x * size->blocks_y; }

size_t frame_bytes(const struct layout *layout) {
  return layout->plane[0].file_samples + layout->plane[1].file_samples + layout->plane[2].file_samples;
}

void *zeroed(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) {
    fprintf(stderr, "c63: out of memory\n");
    exit(7);
  }
  return memory;
}

void picture_init(struct picture *picture, const struct layout *layout) {
  for (int p = 0; p < PLANES; ++p) {
    picture->plane[p] = (uint8_t *)zeroed((size_t)layout->plane[p].width * layout->plane[p].height, 1);
  }
}

void picture_free(struct picture *picture) {
  for (int p = 0; p < PLANES; ++p) free(picture->plane[p]);
}

void picture_swap(struct picture *a, struct picture *b) {
  const struct picture first = *a;
  *a = *b;
  *b = first;
}

void picture_clear(struct picture *picture, const struct layout *layout) {
  for (int p = 0; p < PLANES; ++p) {
    memset(picture->plane[p], 0, (size_t)layout->plane[p].width * layout->plane[p].height);
  }
}

void syntax_init(struct syntax *syntax, const struct layout *layout) {
  syntax->key = 0;
  for (int p = 0; p < PLANES; ++p) {
    const size_t blocks = (size_t)block_count(&layout->plane[p]);
    syntax->motion[p] = (struct block_motion *)zeroed(blocks, sizeof(struct block_motion));
    syntax->levels[p] = (int16_t *)zeroed(blocks * BLOCK_SAMPLES, sizeof(int16_t));
  }
}

void syntax_free(struct syntax *syntax) {
  for (int p = 0; p < PLANES; ++p) {
    free(syntax->motion[p]);
    free(syntax->levels[p]);
  }
}

/* Samples from the file fill the padded plane from its start, row after row without gaps. So if the width is not a
 * multiple of 16, the coded picture is sheared. The course encoder does the same. The decoder writes samples in the
 * same order, so its output is right. */
int picture_read(struct picture *picture, const struct layout *layout, FILE *file) {
  for (int p = 0; p < PLANES; ++p) {
    const size_t samples = layout->plane[p].file_samples;
    if (fread(picture->plane[p], 1, samples, file) != samples) return 0;
  }
  return 1;
}

int picture_write(const struct picture *picture, const struct layout *layout, FILE *file) {
  for (int p = 0; p < PLANES; ++p) {
    const size_t samples = layout->plane[p].file_samples;
    if (fwrite(picture->plane[p], 1, samples, file) != samples) return -1;
  }
  return 0;
}
