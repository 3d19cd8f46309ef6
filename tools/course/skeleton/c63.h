/* Codec63: declarations for all files of the encoder and the decoder.
 *
 * Every file is C that is also C++. So any .c file can become a .cu file: rename it, and the Makefile compiles it with
 * nvcc. */
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

/* The size of one plane. Its sides are padded to whole MCUs. Rows have no gaps. */
struct plane_size {
  int width, height;      /* in samples */
  int blocks_x, blocks_y; /* in blocks of 8x8 */
  size_t file_samples;    /* samples of this plane in a raw file, without padding */
};

struct layout {
  int width, height; /* of the video, without padding */
  struct plane_size plane[PLANES];
};

/* The samples of one picture: Y, U, V. */
struct picture {
  uint8_t *plane[PLANES];
};

/* How a block is predicted. */
struct block_motion {
  int8_t x, y;  /* vector, in samples */
  uint8_t used; /* 1: predicted from the reference; 0: the prediction is zero */
};

/* The quantizers of one plane, in zig-zag order. */
struct quantizer {
  uint8_t step[BLOCK_SAMPLES];
};

/* The syntax elements of one frame: vectors and levels of all blocks, plane by plane in raster order. */
struct syntax {
  int key;
  struct block_motion *motion[PLANES];
  int16_t *levels[PLANES]; /* 64 per block, in zig-zag order */
};

/* Computes sizes. Returns 0, or -1 if the codec does not allow this size. */
int layout_init(struct layout *layout, int width, int height);
int block_count(const struct plane_size *size);
/* Returns the bytes of one frame in a raw file. */
size_t frame_bytes(const struct layout *layout);
void picture_init(struct picture *picture, const struct layout *layout);
void picture_free(struct picture *picture);
void picture_swap(struct picture *a, struct picture *b);
void picture_clear(struct picture *picture, const struct layout *layout);
void syntax_init(struct syntax *syntax, const struct layout *layout);
void syntax_free(struct syntax *syntax);
/* Reads the next frame. Returns 1, or 0 if no whole frame is left. */
int picture_read(struct picture *picture, const struct layout *layout, FILE *file);
/* Returns 0, or -1 if writing fails. */
int picture_write(const struct picture *picture, const struct layout *layout, FILE *file);
/* Returns zeroed memory. Ends the program if there is none. */
void *zeroed(size_t count, size_t size);

/* ---- tables.c: constants of encoder and decoder ---- */

extern const uint8_t zigzag[BLOCK_SAMPLES];
extern const float cosines[BLOCK][BLOCK]; /* [sample][frequency] */

/* The code tables: DC of luma, DC of chroma, AC of luma, AC of chroma. */
enum { DC_LUMA, DC_CHROMA, AC_LUMA, AC_CHROMA, CODE_TABLES };

struct code_table {
  int id;             /* its number in the header */
  uint8_t counts[16]; /* number of codes of each length, 1 to 16 bits */
  int symbols;
  uint8_t symbol[162];
  /* Set by tables_init(). */
  uint16_t code[256]; /* of each symbol */
  uint8_t length[256];
};

extern struct code_table code_tables[CODE_TABLES];

/* Vectors have their own codes, by the number of bits of a component. */
enum { VECTOR_SIZES = 8 };
extern const uint8_t vector_code[VECTOR_SIZES];
extern const uint8_t vector_length[VECTOR_SIZES];

void tables_init(void);
/* Sets the quantizer of a plane for a quality qp. */
void quantizer_init(struct quantizer *quantizer, int plane, int qp);

/* ---- search.c: stage "search" ---- */

/* Finds a vector for each block of a plane. */
void search_plane(const uint8_t *source, const uint8_t *reference, const struct plane_size *size, int range,
                  struct block_motion *motion);

/* ---- predict.c: stage "predict" ---- */

/* Copies the blocks that the vectors point at. Blocks without a vector keep the content of `prediction`. */
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
  uint32_t pending; /* the bits of the byte that is not full yet */
  int pending_count;
  uint32_t last; /* the last 32 bits that were written */
};

void put_byte(struct bit_writer *writer, int byte);
void put_u16(struct bit_writer *writer, int value);
/* Writes the low `count` bits of `value`. A byte FF in these coded bits is followed by 00; in headers it is not. */
void put_bits(struct bit_writer *writer, uint32_t value, int count);
/* Begins a sequence of bits at a byte boundary. */
void start_bits(struct bit_writer *writer);
/* Ends the sequence of bits like the course encoder, with its quirks. */
void end_bits(struct bit_writer *writer);

struct bit_reader {
  const uint8_t *bytes;
  size_t size, position;
  uint32_t current; /* the byte that is being read */
  int left;         /* bits of it that are not read yet */
  int missing;      /* zero bits supplied after the end of the coded data */
};

/* Returns the next byte, or -1 at the end. */
int get_byte(struct bit_reader *reader);
/* Returns a big-endian 16-bit number, or -1 at the end. */
int get_u16(struct bit_reader *reader);
/* Returns the next bits as a number, or -1 after the end of the coded data. */
int get_bits(struct bit_reader *reader, int count);

/* ---- write.c: stage "codes" of the encoder ---- */

/* Appends one frame: headers and coded data. `quantizers` has one for each plane. */
void write_frame(struct bit_writer *writer, const struct layout *layout, const struct quantizer *quantizers,
                 const struct syntax *syntax);

/* ---- parse.c: stage "codes" of the decoder ---- */

/* Which parts a parsed frame had: the header with the picture's size, the codes of the blocks. Combined by |. */
enum { HAD_SIZE = 1, HAD_CODES = 2 };

struct parser {
  struct bit_reader reader;
  struct layout layout; /* set by the first frame */
  int has_layout;
  struct quantizer quantizers[PLANES];
  struct syntax syntax;
  const char *error; /* why parse_frame() returned -1 */
};

/* Parses the next frame and sets `had`. Returns 1, 0 at the end of the stream, or -1 if the stream is damaged. */
int parse_frame(struct parser *parser, int *had);

/* ---- timer.c ---- */

enum stage { STAGE_READ, STAGE_SEARCH, STAGE_PREDICT, STAGE_TRANSFORM, STAGE_RECONSTRUCT, STAGE_CODES, STAGE_WRITE, STAGES };

/* Begins to count time for a stage. One stage runs at a time; the next call ends it. */
void stage_begin(enum stage stage);
void stage_end(void);
/* Prints time and share of each stage. */
void stages_print(FILE *file, int frames);

#ifdef __cplusplus
}
#endif

#endif
