// Decodes c63 streams; drop-in for the course codec's c63dec.

#include "decode_run.h"

int main(int argc, char** argv) {
  c63::tools::DecodeOptions options;
  return c63::tools::run_main(argc, argv,
                              {.name = "c63dec",
                               .description = "Decode a c63 stream to raw YUV 4:2:0 or Y4M.",
                               .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
                               .run =
                                   [&](const c63::tools::Session& session) {
                                     return c63::tools::run_decode(session, options, c63::tools::DecodeOutput::picture);
                                   }});
}
