/* Stage "codes" of the decoder: reads headers, vectors and levels from a stream. A damaged frame is reported and never
 * shown. */
#include "c63.h"

#include <string.h>

static int damaged(struct parser *parser, const char *why) {
  parser->error = why;
  return -1;
}

/* ---- blocks ---- */

/* Returns the next symbol, or -1 if no code matches. Tries one more bit each time; a table would be faster. */
static int get_symbol(struct bit_reader *reader, const struct code_table *table) {
  unsigned code = 0, first = 0;
  int index = 0;
  for (int length = 0; length < 16; ++length) {
    const int bit = get_bits(reader, 1);
    if (bit < 0) return -1;
    code = code << 1 | (unsigned)bit;
    if (code - first < table->counts[length]) return table->symbol[index + (int)(code - first)];
    index += table->counts[length];
    first = (first + table->counts[length]) << 1;
  }
  return -1;
}

/* Reads a number of `size` bits. Returns 0, or -1 after the end of the coded data. */
static int get_value(struct bit_reader *reader, int size, int *value) {
  *value = 0;
  if (size == 0) return 0;
  const int bits = get_bits(reader, size);
  if (bits < 0) return -1;
  *value = bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits;
  return 0;
}

static int get_vector_component(struct bit_reader *reader, int *value) {
  int code = get_bits(reader, 1);
  for (int length = 2; length <= 5 && code >= 0; ++length) {
    const int bit = get_bits(reader, 1);
    if (bit < 0) return -1;
    code = code << 1 | bit;
    for (int size = 0; size < VECTOR_SIZES; ++size) {
      if (vector_length[size] == length && vector_code[size] == code) return get_value(reader, size, value);
    }
  }
  return -1;
}

static int get_motion(struct parser *parser, const struct plane_size *size, int x, int y, struct block_motion *motion) {
  struct bit_reader *reader = &parser->reader;
  int vector_x = 0, vector_y = 0;
  const int used = get_bits(reader, 1);
  if (used < 0) return damaged(parser, "a block is cut off");
  if (used) {
    const int same = get_bits(reader, 1);
    if (same == 1 && x == 0) return damaged(parser, "the first block of a row takes the vector of a block to its left");
    if (same == 1) {
      vector_x = motion[-1].x;
      vector_y = motion[-1].y;
    } else if (same < 0 || get_vector_component(reader, &vector_x) < 0 || get_vector_component(reader, &vector_y) < 0) {
      return damaged(parser, "unknown code for a vector");
    }
    const int to_x = x * BLOCK + vector_x, to_y = y * BLOCK + vector_y;
    if (!parser->syntax.key && (to_x < 0 || to_y < 0 || to_x > size->width - BLOCK || to_y > size->height - BLOCK)) {
      return damaged(parser, "a vector leaves the picture");
    }
  }
  motion->x = (int8_t)vector_x;
  motion->y = (int8_t)vector_y;
  motion->used = (uint8_t)used;
  return 0;
}

static int get_levels(struct parser *parser, int plane, int16_t *levels, int16_t *last_dc) {
  struct bit_reader *reader = &parser->reader;
  memset(levels, 0, BLOCK_SAMPLES * sizeof *levels);
  int value;
  const int dc_size = get_symbol(reader, &code_tables[plane == 0 ? DC_LUMA : DC_CHROMA]);
  if (dc_size < 0 || get_value(reader, dc_size, &value) < 0) return damaged(parser, "unknown code for a DC level");
  *last_dc = (int16_t)(*last_dc + value);
  levels[0] = *last_dc;

  const struct code_table *table = &code_tables[plane == 0 ? AC_LUMA : AC_CHROMA];
  for (int k = 1; k < BLOCK_SAMPLES; ++k) {
    const int symbol = get_symbol(reader, table);
    if (symbol == 0x00) break; /* the other levels are zero */
    if (symbol < 0) return damaged(parser, "unknown code for a level");
    k += symbol >> 4;
    if (k >= BLOCK_SAMPLES) return damaged(parser, "a block has more than 64 levels");
    if (symbol == 0xF0) continue;
    if (get_value(reader, symbol & 15, &value) < 0) return damaged(parser, "a level is cut off");
    levels[k] = (int16_t)value;
  }
  return 0;
}

static int get_block(struct parser *parser, int plane, int x, int y, int16_t *last_dc) {
  const struct plane_size *size = &parser->layout.plane[plane];
  const int block = y * size->blocks_x + x;
  if (get_motion(parser, size, x, y, &parser->syntax.motion[plane][block]) < 0) return -1;
  return get_levels(parser, plane, &parser->syntax.levels[plane][(size_t)block * BLOCK_SAMPLES], last_dc);
}

static int get_blocks(struct parser *parser) {
  int16_t last_dc[PLANES] = {0, 0, 0};
  parser->reader.left = 0;
  parser->reader.missing = 0;
  for (int y = 0; y < parser->layout.plane[1].blocks_y; ++y) {
    for (int x = 0; x < parser->layout.plane[1].blocks_x; ++x) {
      for (int i = 0; i < 4; ++i) {
        if (get_block(parser, 0, 2 * x + i % 2, 2 * y + i / 2, &last_dc[0]) < 0) return -1;
      }
      for (int p = 1; p < PLANES; ++p) {
        if (get_block(parser, p, x, y, &last_dc[p]) < 0) return -1;
      }
    }
  }
  return 0;
}

/* ---- headers ---- */

static int get_quantizers(struct parser *parser) {
  if (get_u16(&parser->reader) < 0) return damaged(parser, "a table of quantizers is cut off"); /* the length is wrong by 2 */
  for (int i = 0; i < PLANES; ++i) {
    const int plane = get_byte(&parser->reader);
    if (plane < 0 || plane >= PLANES) return damaged(parser, "a table of quantizers is for an unknown plane");
    for (int k = 0; k < BLOCK_SAMPLES; ++k) {
      const int value = get_byte(&parser->reader);
      if (value < 0) return damaged(parser, "a table of quantizers is cut off");
      parser->quantizers[plane].step[k] = (uint8_t)value;
    }
  }
  return 0;
}

/* A scan has at least 38 bits per MCU. So a header that claims a huge picture is refused before memory is allocated. */
static int fits(const struct parser *parser, const struct layout *layout) {
  const size_t mcus = (size_t)block_count(&layout->plane[1]);
  return parser->reader.size - parser->reader.position + 1 >= (mcus * 38 + 7) / 8;
}

static int get_size(struct parser *parser) {
  int bytes[18];
  for (int i = 0; i < 18; ++i) {
    bytes[i] = get_byte(&parser->reader);
    if (bytes[i] < 0) return damaged(parser, "the header of a frame is cut off");
  }
  parser->syntax.key = bytes[17] != 0;
  if (parser->has_layout) return 0;
  struct layout layout;
  if (bytes[2] != 8 || layout_init(&layout, bytes[5] << 8 | bytes[6], bytes[3] << 8 | bytes[4]) < 0 || !fits(parser, &layout)) {
    return damaged(parser, "the size of the picture is not valid");
  }
  const int key = parser->syntax.key;
  parser->layout = layout;
  parser->has_layout = 1;
  syntax_init(&parser->syntax, &layout);
  parser->syntax.key = key;
  return 0;
}

/* Skips a segment. It begins with its length, which includes the two bytes of the length. */
static int skip_segment(struct parser *parser) {
  const int length = get_u16(&parser->reader);
  if (length < 2 || (size_t)length - 2 > parser->reader.size - parser->reader.position) return damaged(parser, "a header is cut off");
  parser->reader.position += (size_t)length - 2;
  return 0;
}

/* Returns the next marker. There may be a zero byte before it, because of the second quirk of end_bits(). */
static int get_marker(struct bit_reader *reader) {
  int byte = get_byte(reader);
  if (byte == 0) byte = get_byte(reader);
  return byte == 0xFF ? get_byte(reader) : -1;
}

int parse_frame(struct parser *parser, int *had) {
  struct bit_reader *reader = &parser->reader;
  *had = 0;
  if (reader->position == reader->size) return 0;
  if (get_byte(reader) != 0xFF || get_byte(reader) != 0xD8) return damaged(parser, "no frame begins here");
  for (;;) {
    switch (get_marker(reader)) {
      case 0xDB:
        if (get_quantizers(parser) < 0) return -1;
        break;
      case 0xC0:
        if (get_size(parser) < 0) return -1;
        *had |= HAD_SIZE;
        break;
      case 0xC4: /* the tables of codes never change */
        if (skip_segment(parser) < 0) return -1;
        break;
      case 0xDA:
        if (skip_segment(parser) < 0) return -1;
        if (!parser->has_layout) return damaged(parser, "codes come before the size of the picture");
        if (get_blocks(parser) < 0) return -1;
        *had |= HAD_CODES;
        break;
      case 0xD9:
        return parser->has_layout ? 1 : damaged(parser, "the first frame has no size");
      default:
        return damaged(parser, "a marker is missing here, or is unknown");
    }
  }
}
