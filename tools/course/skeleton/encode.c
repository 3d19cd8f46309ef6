/* The encoder: raw video in, a stream out. */
#include "c63.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct encoder {
  struct layout layout;
  struct quantizer quantizers[PLANES];
  struct picture source;         /* the frame to encode */
  struct picture reference;      /* the previous frame, as the decoder has it */
  struct picture prediction;     /* the reference, moved by the vectors */
  struct picture reconstruction; /* this frame, as the decoder will have it */
  struct syntax syntax;
  struct bit_writer writer;
  int frames; /* encoded so far */
};

static void encoder_init(struct encoder *encoder, int width, int height, int qp) {
  memset(encoder, 0, sizeof *encoder);
  if (layout_init(&encoder->layout, width, height) < 0) {
    fprintf(stderr, "c63enc: %dx%d cannot be encoded: width times height must be a multiple of 4\n", width, height);
    exit(2);
  }
  for (int p = 0; p < PLANES; ++p) quantizer_init(&encoder->quantizers[p], p, qp);
  picture_init(&encoder->source, &encoder->layout);
  picture_init(&encoder->reference, &encoder->layout);
  picture_init(&encoder->prediction, &encoder->layout);
  picture_init(&encoder->reconstruction, &encoder->layout);
  syntax_init(&encoder->syntax, &encoder->layout);
}

static void encoder_free(struct encoder *encoder) {
  picture_free(&encoder->source);
  picture_free(&encoder->reference);
  picture_free(&encoder->prediction);
  picture_free(&encoder->reconstruction);
  syntax_free(&encoder->syntax);
  free(encoder->writer.bytes);
}

/* Decides how each block is predicted. Blocks of a key frame have no reference: their prediction is zero. */
static void find_motion(struct encoder *encoder) {
  for (int p = 0; p < PLANES; ++p) {
    const struct plane_size *size = &encoder->layout.plane[p];
    if (encoder->syntax.key) {
      memset(encoder->syntax.motion[p], 0, (size_t)block_count(size) * sizeof(struct block_motion));
    } else {
      search_plane(encoder->source.plane[p], encoder->reference.plane[p], size, p == 0 ? LUMA_RANGE : CHROMA_RANGE,
                   encoder->syntax.motion[p]);
    }
  }
}

/* Encodes the source picture and appends it to the writer. */
static void encode_frame(struct encoder *encoder) {
  const struct layout *layout = &encoder->layout;
  encoder->syntax.key = encoder->frames % KEY_INTERVAL == 0;

  stage_begin(STAGE_SEARCH);
  find_motion(encoder);

  stage_begin(STAGE_PREDICT);
  if (encoder->syntax.key) picture_clear(&encoder->prediction, layout);
  for (int p = 0; p < PLANES; ++p) {
    predict_plane(encoder->prediction.plane[p], encoder->reference.plane[p], &layout->plane[p], encoder->syntax.motion[p]);
  }

  stage_begin(STAGE_TRANSFORM);
  for (int p = 0; p < PLANES; ++p) {
    transform_plane(encoder->source.plane[p], encoder->prediction.plane[p], &layout->plane[p], &encoder->quantizers[p],
                    encoder->syntax.levels[p]);
  }

  stage_begin(STAGE_RECONSTRUCT);
  for (int p = 0; p < PLANES; ++p) {
    reconstruct_plane(encoder->syntax.levels[p], encoder->prediction.plane[p], &layout->plane[p], &encoder->quantizers[p],
                      encoder->reconstruction.plane[p]);
  }

  stage_begin(STAGE_CODES);
  write_frame(&encoder->writer, layout, encoder->quantizers, &encoder->syntax);
  stage_end();

  picture_swap(&encoder->reference, &encoder->reconstruction);
  ++encoder->frames;
}

/* Writes the coded frame. Flushes after each frame, so that a reader at the other end of a pipe gets it at once. */
static int write_out(struct encoder *encoder, FILE *output) {
  stage_begin(STAGE_WRITE);
  const size_t written = fwrite(encoder->writer.bytes, 1, encoder->writer.size, output);
  const int failed = written != encoder->writer.size || fflush(output) != 0;
  encoder->writer.size = 0;
  stage_end();
  return failed ? -1 : 0;
}

static int read_in(struct encoder *encoder, FILE *input) {
  stage_begin(STAGE_READ);
  const int whole = picture_read(&encoder->source, &encoder->layout, input);
  stage_end();
  return whole;
}

/* Returns 0, or -1 if writing fails. */
static int encode_all(struct encoder *encoder, FILE *input, FILE *output, int limit) {
  while ((limit == 0 || encoder->frames < limit) && read_in(encoder, input)) {
    encode_frame(encoder);
    if (write_out(encoder, output) < 0) return -1;
  }
  return 0;
}

struct options {
  int width, height, frames, qp, timing;
  const char *input, *output;
};

static void usage(void) {
  fprintf(stderr,
          "usage: c63enc -w WIDTH -h HEIGHT [-f FRAMES] [-q QP] [-t] -o OUTPUT.c63 INPUT.yuv\n"
          "  -q QP  5 to 25; a larger one is finer and takes more bits (25)\n"
          "  -t     prints how long each stage takes\n"
          "INPUT is raw 4:2:0 video. - is standard input or output.\n");
  exit(2);
}

static struct options parse_options(int argc, char **argv) {
  struct options options = {0, 0, 0, DEFAULT_QP, 0, NULL, NULL};
  int option;
  while ((option = getopt(argc, argv, "w:h:f:q:o:t")) != -1) {
    switch (option) {
      case 'w': options.width = atoi(optarg); break;
      case 'h': options.height = atoi(optarg); break;
      case 'f': options.frames = atoi(optarg); break;
      case 'q': options.qp = atoi(optarg); break;
      case 'o': options.output = optarg; break;
      case 't': options.timing = 1; break;
      default: usage();
    }
  }
  if (optind + 1 != argc || options.output == NULL || options.frames < 0 || options.qp < 5 || options.qp > 25) usage();
  options.input = argv[optind];
  return options;
}

static FILE *open_file(const char *name, const char *mode) {
  if (strcmp(name, "-") == 0) return mode[0] == 'r' ? stdin : stdout;
  FILE *file = fopen(name, mode);
  if (file == NULL) {
    perror(name);
    exit(mode[0] == 'r' ? 4 : 6);
  }
  return file;
}

int main(int argc, char **argv) {
  const struct options options = parse_options(argc, argv);
  tables_init();
  struct encoder encoder;
  encoder_init(&encoder, options.width, options.height, options.qp);
  FILE *input = open_file(options.input, "rb");
  FILE *output = open_file(options.output, "wb");
  if (encode_all(&encoder, input, output, options.frames) < 0 || fclose(output) != 0) {
    perror(options.output);
    return 6;
  }
  fclose(input);
  if (options.timing) stages_print(stderr, encoder.frames);
  const int frames = encoder.frames;
  encoder_free(&encoder);
  if (frames == 0) {
    fprintf(stderr, "c63enc: %s has no whole frame of %dx%d\n", options.input, options.width, options.height);
    return 4;
  }
  return 0;
}
