/* Stage "codes" of the encoder: writes headers, and the syntax elements of each block. */
#include "c63.h"

/* ---- headers ---- */

static void put_marker(struct bit_writer *writer, int marker) {
  put_byte(writer, 0xFF);
  put_byte(writer, marker);
}

static void put_quantizers(struct bit_writer *writer, const struct quantizer *quantizers) {
  put_marker(writer, 0xDB);
  put_u16(writer, 195); /* 197 would be right; the course encoder says 195 */
  for (int p = 0; p < PLANES; ++p) {
    put_byte(writer, p);
    for (int k = 0; k < BLOCK_SAMPLES; ++k) put_byte(writer, quantizers[p].step[k]);
  }
}

static void put_size(struct bit_writer *writer, const struct layout *layout, int key) {
  static const uint8_t components[] = {3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 2};
  put_marker(writer, 0xC0);
  put_u16(writer, 18);
  put_byte(writer, 8); /* bits per sample */
  put_u16(writer, layout->height);
  put_u16(writer, layout->width);
  for (size_t i = 0; i < sizeof components; ++i) put_byte(writer, components[i]);
  put_byte(writer, key);
}

static void put_code_tables(struct bit_writer *writer) {
  put_marker(writer, 0xC4);
  put_u16(writer, 418);
  for (int t = 0; t < CODE_TABLES; ++t) {
    const struct code_table *table = &code_tables[t];
    put_byte(writer, table->id);
    for (int i = 0; i < 16; ++i) put_byte(writer, table->counts[i]);
    for (int i = 0; i < table->symbols; ++i) put_byte(writer, table->symbol[i]);
  }
}

static void put_scan_header(struct bit_writer *writer) {
  static const uint8_t payload[] = {3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 0x3F, 0};
  put_marker(writer, 0xDA);
  put_u16(writer, 12);
  for (size_t i = 0; i < sizeof payload; ++i) put_byte(writer, payload[i]);
}

/* ---- blocks ---- */

static int bit_length(int value) {
  int magnitude = value < 0 ? -value : value;
  int bits = 0;
  for (; magnitude != 0; magnitude >>= 1) ++bits;
  return bits;
}

/* Writes a number of known size: its bits if it is positive, those of the number minus 1 if it is negative. */
static void put_value(struct bit_writer *writer, int value, int size) {
  if (size == 0) return;
  const int coded = value > 0 ? value : value - 1;
  put_bits(writer, (uint32_t)coded & ((1u << size) - 1), size);
}

static void put_symbol(struct bit_writer *writer, const struct code_table *table, int symbol) {
  put_bits(writer, table->code[symbol], table->length[symbol]);
}

static void put_vector_component(struct bit_writer *writer, int value) {
  const int size = bit_length(value);
  put_bits(writer, vector_code[size], vector_length[size]);
  put_value(writer, value, size);
}

/* Writes one bit that says whether the block has a vector. If so, one more says whether it equals that of the block to
 * the left. */
static void put_motion(struct bit_writer *writer, const struct block_motion *motion, int column) {
  put_bits(writer, motion->used, 1);
  if (!motion->used) return;
  const struct block_motion *left = motion - 1;
  const int same = column > 0 && left->used && left->x == motion->x && left->y == motion->y;
  put_bits(writer, (uint32_t)same, 1);
  if (same) return;
  put_vector_component(writer, motion->x);
  put_vector_component(writer, motion->y);
}

static void put_levels(struct bit_writer *writer, const int16_t *levels, int plane, int *last_dc) {
  const int difference = levels[0] - *last_dc;
  *last_dc = levels[0];
  const int dc_size = bit_length(difference);
  put_symbol(writer, &code_tables[plane == 0 ? DC_LUMA : DC_CHROMA], dc_size);
  put_value(writer, difference, dc_size);

  const struct code_table *table = &code_tables[plane == 0 ? AC_LUMA : AC_CHROMA];
  int last = BLOCK_SAMPLES - 1;
  while (last > 0 && levels[last] == 0) --last;
  int zeros = 0;
  for (int k = 1; k <= last; ++k) {
    if (levels[k] == 0) {
      if (++zeros == 16) { /* sixteen zeros have their own symbol */
        put_symbol(writer, table, 0xF0);
        zeros = 0;
      }
      continue;
    }
    const int size = bit_length(levels[k]);
    put_symbol(writer, table, zeros << 4 | size);
    put_value(writer, levels[k], size);
    zeros = 0;
  }
  if (last < BLOCK_SAMPLES - 1) put_symbol(writer, table, 0x00);
}

static void put_block(struct bit_writer *writer, const struct layout *layout, const struct syntax *syntax, int plane, int x, int y,
                      int *last_dc) {
  const int block = y * layout->plane[plane].blocks_x + x;
  put_motion(writer, &syntax->motion[plane][block], x);
  put_levels(writer, &syntax->levels[plane][(size_t)block * BLOCK_SAMPLES], plane, last_dc);
}

static void put_blocks(struct bit_writer *writer, const struct layout *layout, const struct syntax *syntax) {
  int last_dc[PLANES] = {0, 0, 0};
  for (int y = 0; y < layout->plane[1].blocks_y; ++y) {
    for (int x = 0; x < layout->plane[1].blocks_x; ++x) {
      for (int i = 0; i < 4; ++i) put_block(writer, layout, syntax, 0, 2 * x + i % 2, 2 * y + i / 2, &last_dc[0]);
      for (int p = 1; p < PLANES; ++p) put_block(writer, layout, syntax, p, x, y, &last_dc[p]);
    }
  }
}

void write_frame(struct bit_writer *writer, const struct layout *layout, const struct quantizer *quantizers,
                 const struct syntax *syntax) {
  put_marker(writer, 0xD8);
  put_quantizers(writer, quantizers);
  put_size(writer, layout, syntax->key);
  put_code_tables(writer);
  put_scan_header(writer);
  start_bits(writer);
  put_blocks(writer, layout, syntax);
  end_bits(writer);
  put_marker(writer, 0xD9);
}
