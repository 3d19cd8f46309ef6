// c63pred: writes the motion-compensated prediction of each frame of a c63 stream. Accepts the command line of the
// program with the same name in the course codec, the original Codec63 of the University of Oslo's course.

#include "decode/decode_program.h"

int main(int argc, char** argv) {
  c63::tools::DecodeOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63pred",
       .description = "Write the prediction of each frame of a c63 stream.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run =
           [&](const c63::tools::Session& session) {
             return c63::tools::run_decode(session, options, c63::tools::DecodeOutput::prediction);
           },
       .examples = {{"c63pred foreman.c63 prediction.y4m", "Show what each frame is before its residual is added"}}});
}
