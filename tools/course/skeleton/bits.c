/* Writes bits into bytes, and reads them back. */
#include "c63.h"

#include <stdlib.h>

void put_byte(struct bit_writer *writer, int byte) {
  if (writer->size == writer->capacity) {
    writer->capacity = writer->capacity ? 2 * writer->capacity : 65536;
    writer->bytes = (uint8_t *)realloc(writer->bytes, writer->capacity);
    if (writer->bytes == NULL) {
      fprintf(stderr, "c63: out of memory\n");
      exit(7);
    }
  }
  writer->bytes[writer->size++] = (uint8_t)byte;
}

void put_u16(struct bit_writer *writer, int value) {
  put_byte(writer, value >> 8);
  put_byte(writer, value);
}

/* In a stream, FF begins a marker. So an FF in coded data is followed by 00, which the decoder drops. */
static void put_coded_byte(struct bit_writer *writer, int byte) {
  put_byte(writer, byte);
  if (byte == 0xFF) put_byte(writer, 0);
}

void start_bits(struct bit_writer *writer) {
  writer->pending = 0;
  writer->pending_count = 0;
  writer->last = 0;
}

void put_bits(struct bit_writer *writer, uint32_t value, int count) {
  for (int i = count - 1; i >= 0; --i) {
    const uint32_t bit = value >> i & 1;
    writer->last = writer->last << 1 | bit;
    writer->pending = writer->pending << 1 | bit;
    if (++writer->pending_count == 8) {
      put_coded_byte(writer, (int)(writer->pending & 0xFF));
      writer->pending = 0;
      writer->pending_count = 0;
    }
  }
}

void end_bits(struct bit_writer *writer) {
  /* Two quirks of the course encoder. If the last 32 bits are all zero, the unfinished byte is lost. Otherwise a byte
   * is written, even if none is unfinished. */
  if (writer->last == 0) return;
  put_coded_byte(writer, (int)(writer->pending << (8 - writer->pending_count) & 0xFF));
}

int get_byte(struct bit_reader *reader) {
  return reader->position < reader->size ? reader->bytes[reader->position++] : -1;
}

int get_u16(struct bit_reader *reader) {
  const int high = get_byte(reader);
  const int low = get_byte(reader);
  return high < 0 || low < 0 ? -1 : high << 8 | low;
}

/* Loads the next byte of coded data. At a marker or the end of the file, zeros follow instead. At most 7 of them are
 * valid: the bits that the first quirk of end_bits() can lose. */
static void load_byte(struct bit_reader *reader) {
  const uint8_t *next = reader->bytes + reader->position;
  const size_t left = reader->size - reader->position;
  reader->left = 8;
  if (left == 0 || (next[0] == 0xFF && left > 1 && next[1] != 0)) {
    reader->current = 0;
    reader->missing += 8;
    return;
  }
  reader->current = next[0];
  reader->position += next[0] == 0xFF && left > 1 ? 2 : 1;
}

int get_bits(struct bit_reader *reader, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i) {
    if (reader->left == 0) load_byte(reader);
    --reader->left;
    value = value << 1 | (int)(reader->current >> reader->left & 1);
    if (reader->missing - reader->left > 7) return -1;
  }
  return value;
}
