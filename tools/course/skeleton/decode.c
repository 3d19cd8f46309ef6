/* The decoder: a stream in, raw video out. */
#include "c63.h"

#include <stdlib.h>
#include <string.h>

struct decoder {
  struct parser parser;
  struct picture reference;  /* the previous frame */
  struct picture prediction; /* the reference, moved by the vectors */
  struct picture current;    /* the frame to decode */
  int has_pictures;
};

static void decoder_free(struct decoder *decoder) {
  if (decoder->has_pictures) {
    picture_free(&decoder->reference);
    picture_free(&decoder->prediction);
    picture_free(&decoder->current);
  }
  if (decoder->parser.has_layout) syntax_free(&decoder->parser.syntax);
}

/* Reconstructs the picture of the frame that was just parsed. */
static void rebuild(struct decoder *decoder, int had) {
  const struct parser *parser = &decoder->parser;
  const struct layout *layout = &parser->layout;
  if (!decoder->has_pictures) {
    picture_init(&decoder->reference, layout);
    picture_init(&decoder->prediction, layout);
    picture_init(&decoder->current, layout);
    decoder->has_pictures = 1;
  } else if (had & HAD_SIZE) { /* without this header, the frame replaces the one before: it has the same reference */
    picture_swap(&decoder->reference, &decoder->current);
  }
  if (had & HAD_SIZE) picture_clear(&decoder->prediction, layout);
  if (!(had & HAD_CODES)) return; /* without codes, the frame repeats the one before */

  for (int p = 0; p < PLANES; ++p) {
    const struct plane_size *size = &layout->plane[p];
    stage_begin(STAGE_PREDICT);
    if (!parser->syntax.key) {
      predict_plane(decoder->prediction.plane[p], decoder->reference.plane[p], size, parser->syntax.motion[p]);
    }
    stage_begin(STAGE_RECONSTRUCT);
    reconstruct_plane(parser->syntax.levels[p], decoder->prediction.plane[p], size, &parser->quantizers[p], decoder->current.plane[p]);
  }
  stage_end();
}

/* Returns the number of frames, or -1 if the stream is damaged. The frames before the damage are written. */
static int decode_all(struct decoder *decoder, FILE *output, const char *output_name) {
  for (int frames = 0;; ++frames) {
    int had;
    stage_begin(STAGE_CODES);
    const int parsed = parse_frame(&decoder->parser, &had);
    stage_end();
    if (parsed < 0) {
      fprintf(stderr, "c63dec: frame %d: %s (byte %zu)\n", frames, decoder->parser.error, decoder->parser.reader.position);
      return -1;
    }
    if (parsed == 0) return frames;
    rebuild(decoder, had);
    stage_begin(STAGE_WRITE);
    if (picture_write(&decoder->current, &decoder->parser.layout, output) < 0) {
      perror(output_name);
      exit(6);
    }
    stage_end();
  }
}

/* Returns the content of a file. Ends the program if it cannot be read. */
static uint8_t *read_file(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) {
    perror(name);
    exit(4);
  }
  struct bit_writer bytes;
  memset(&bytes, 0, sizeof bytes);
  for (int byte = getc(file); byte != EOF; byte = getc(file)) put_byte(&bytes, byte);
  fclose(file);
  *size = bytes.size;
  return bytes.bytes;
}

int main(int argc, char **argv) {
  const int timing = argc > 1 && strcmp(argv[1], "-t") == 0;
  if (argc != 3 + timing) {
    fprintf(stderr, "usage: c63dec [-t] INPUT.c63 OUTPUT.yuv\n  -t  prints how long each stage takes\n");
    return 2;
  }
  const char *output_name = argv[2 + timing];
  tables_init();
  struct decoder decoder;
  memset(&decoder, 0, sizeof decoder);
  stage_begin(STAGE_READ);
  uint8_t *bytes = read_file(argv[1 + timing], &decoder.parser.reader.size);
  stage_end();
  decoder.parser.reader.bytes = bytes;
  FILE *output = fopen(output_name, "wb");
  if (output == NULL) {
    perror(output_name);
    return 6;
  }
  const int frames = decode_all(&decoder, output, output_name);
  if (fclose(output) != 0) {
    perror(output_name);
    return 6;
  }
  if (timing) stages_print(stderr, frames);
  decoder_free(&decoder);
  free(bytes);
  return frames < 0 ? 4 : 0;
}
