// c63info: says what is in a c63 stream.

#include "info/info_run.h"

int main(int argc, char** argv) {
  c63::tools::InfoOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63info",
       .description =
           "Show what a c63 stream contains: size, frames, GOPs, bits by kind, and which presets write such streams.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_info(session, options); },
       .examples = {{"c63info foreman.c63", "Show what the stream contains"},
                    {"c63info --quick foreman.c63", "Read the headers only: no bits by kind, no blocks"},
                    {"c63info --json foreman.json foreman.c63", "Write the same for other programs, with every GOP"}}});
}
