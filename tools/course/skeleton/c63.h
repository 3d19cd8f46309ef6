/* Codec63: what all files of the encoder and the decoder share.
 *
 * Every file is C that is C++ as well, so any .c file may become a .cu file: rename it, and the Makefile compiles it with nvcc. */
#ifndef C63_H
#define C63_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PLANES = 3, BLOCK = 8, BLOCK_SAMPLES = 64, MCU = 16 };
enum { LUMA_RANGE = 16, CHROMA_RANGE = 8, KEY_INTERVAL = 100, DEFAULT_QP = 25 };

/* ---- layout.c: sizes and memory ---- */

/* One plane. Its sides are padded to whole MCUs; rows follow each other without a gap. */
struct plane_size {
  int width, height;      /* in samples */
  int blocks_x, blocks_y; /* in blocks of 8x8 */
  size_t file_samples;    /* samples of this plane in a raw file: the unpadded size */
};

struct layout {
  int width, height; /* of the video, unpadded */
  struct plane_size plane[PLANES];
};

/* The samples of one picture: Y, U, V. */
struct picture {
  uint8_t *plane[PLANES];
};

/* Where a block's prediction comes from. */
struct block_motion {
  int8_t x, y;  /* vector, in samples */
  uint8_t used; /* 1: predicted from the reference; 0: predicted as zeros */
};

/* The quantizers of one plane, in zig-zag order. */
struct quantizer {
  uint8_t step[BLOCK_SAMPLES];
};

/* What entropy coding says of one frame: vectors and levels of every block, in raster order of each plane. */
struct syntax {
  int key;
  struct block_motion *motion[PLANES];
  int16_t *levels[PLANES]; /* 64 a block, in zig-zag order */
};

/* Returns 0, or -1 if the codec has no such size. */
int layout_init(struct layout *layout, int width, int height);
int block_count(const struct plane_size *size);
/* Bytes of one frame in a raw file. */
size_t frame_bytes(const struct layout *layout);
void picture_init(struct picture *picture, const struct layout *layout);
void picture_free(struct picture *picture);
void picture_swap(struct picture *a, struct picture *b);
void picture_clear(struct picture *picture, const struct layout *layout);
void syntax_init(struct syntax *syntax, const struct layout *layout);
void syntax_free(struct syntax *syntax);
/* Reads the next frame. Returns 1, 0 if no whole frame is left. */
int picture_read(struct picture *picture, const struct layout *layout, FILE *file);
/* Returns 0, or -1 if the file takes no more. */
int picture_write(const struct picture *picture, const struct layout *layout, FILE *file);
/* Zeroed memory; ends the program if there is none. */
void *zeroed(size_t count, size_t size);

/* ---- tables.c: what encoder and decoder know by heart ---- */

extern const uint8_t zigzag[BLOCK_SAMPLES];
extern const float cosines[BLOCK][BLOCK]; /* [sample][frequency] */

/* The tables of codes: DC of luma, DC of chroma, AC of luma, AC of chroma. */
enum { DC_LUMA, DC_CHROMA, AC_LUMA, AC_CHROMA, CODE_TABLES };

struct code_table {
  int id;             /* in the header */
  uint8_t counts[16]; /* codes of each length, 1 to 16 bits */
  int symbols;
  uint8_t symbol[162];
  /* Filled by tables_init(). */
  uint16_t code[256]; /* by symbol */
  uint8_t length[256];
};

extern struct code_table code_tables[CODE_TABLES];

/* Vectors have codes of their own: by the number of bits of a component. */
enum { VECTOR_SIZES = 8 };
extern const uint8_t vector_code[VECTOR_SIZES];
extern const uint8_t vector_length[VECTOR_SIZES];

void tables_init(void);
/* The quantizers of a plane at a quality. */
void quantizer_init(struct quantizer *quantizer, int plane, int qp);

/* ---- search.c: stage "search" ---- */

/* Finds a vector for each block of a plane. */
void search_plane(const uint8_t *source, const uint8_t *reference, const struct plane_size *size, int range,
                  struct block_motion *motion);

/* ---- predict.c: stage "predict" ---- */

/* Copies what the vectors point at. Blocks without a vector keep what the prediction has. */
void predict_plane(uint8_t *prediction, const uint8_t *reference, const struct plane_size *size,
                   const struct block_motion *motion);

/* ---- transform.c: stages "transform" and "reconstruct" ---- */

void transform_plane(const uint8_t *source, const uint8_t *prediction, const struct plane_size *size,
                     const struct quantizer *quantizer, int16_t *levels);
void reconstruct_plane(const int16_t *levels, const uint8_t *prediction, const struct plane_size *size,
                       const struct quantizer *quantizer, uint8_t *reconstruction);

/* ---- bits.c ---- */

struct bit_writer {
  uint8_t *bytes;
  size_t size, capacity;
  uint32_t pending; /* bits of the byte that is not complete */
  int pending_count;
  uint32_t last; /* the last 32 bits that were written */
};

void put_byte(struct bit_writer *writer, int byte);
void put_u16(struct bit_writer *writer, int value);
/* Bytes FF are followed by 00 here, and only here. */
void put_bits(struct bit_writer *writer, uint32_t value, int count);
/* Begins a run of bits at a byte. */
void start_bits(struct bit_writer *writer);
/* Ends it as the course encoder does, with its quirks. */
void end_bits(struct bit_writer *writer);

struct bit_reader {
  const uint8_t *bytes;
  size_t size, position;
  uint32_t current; /* the byte that is being read */
  int left;         /* bits of it that are still to come */
  int missing;      /* zeros that were given past the end */
};

/* The next byte, or -1 at the end. */
int get_byte(struct bit_reader *reader);
/* A big-endian number of 16 bits, or -1. */
int get_u16(struct bit_reader *reader);
/* The next bits as a number, or -1 if the run of bits is over. */
int get_bits(struct bit_reader *reader, int count);

/* ---- write.c: stage "codes" of the encoder ---- */

/* Appends one frame: headers and codes. There is a quantizer for each plane. */
void write_frame(struct bit_writer *writer, const struct layout *layout, const struct quantizer *quantizers,
                 const struct syntax *syntax);

/* ---- parse.c: stage "codes" of the decoder ---- */

/* What a frame had. */
enum { HAD_SIZE = 1, HAD_CODES = 2 };

struct parser {
  struct bit_reader reader;
  struct layout layout; /* set by the first frame */
  int has_layout;
  struct quantizer quantizers[PLANES];
  struct syntax syntax;
  const char *error; /* why parse_frame() returned -1 */
};

/* Parses the next frame. Returns 1 and what it had, 0 at the end of the stream, -1 on damage. */
int parse_frame(struct parser *parser, int *had);

/* ---- timer.c ---- */

enum stage { STAGE_READ, STAGE_SEARCH, STAGE_PREDICT, STAGE_TRANSFORM, STAGE_RECONSTRUCT, STAGE_CODES, STAGE_WRITE, STAGES };

/* From here on, time counts for this stage. One stage at a time; the next call ends it. */
void stage_begin(enum stage stage);
void stage_end(void);
/* Prints time and share of each stage. */
void stages_print(FILE *file, int frames);

#ifdef __cplusplus
}
#endif

#endif
