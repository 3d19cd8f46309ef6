// Makes video whose motion is known.

#include "generate_run.h"

int main(int argc, char** argv) {
  c63::tools::GenerateOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63gen",
       .description = "Make a video with known motion: the same bytes on every machine.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_generate(session, options); }});
}
