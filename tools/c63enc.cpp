// Encodes video to c63 streams; drop-in for the course codec's c63enc.

#include "encode_run.h"

int main(int argc, char** argv) {
  c63::tools::EncodeOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63enc",
       .description = "Encode video to a c63 stream.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_encode(session, options); }});
}
