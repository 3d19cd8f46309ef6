// c63dec: decodes c63 streams. Accepts the command line of the course codec's c63dec.

#include "decode/decode_program.h"

int main(int argc, char** argv) {
  c63::tools::DecodeOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63dec",
       .description = "Decode a c63 stream to raw YUV 4:2:0 or Y4M.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run =
           [&](const c63::tools::Session& session) {
             return c63::tools::run_decode(session, options, c63::tools::DecodeOutput::picture);
           },
       .examples = {{"c63dec foreman.c63 foreman.y4m", "Decode to Y4M, which players show"},
                    {"c63dec foreman.c63 - | ffplay -f rawvideo -video_size 352x288 -", "Decode into a player"},
                    {"c63dec --md5 foreman.c63", "Print the checksum of the decoded samples"}}});
}
