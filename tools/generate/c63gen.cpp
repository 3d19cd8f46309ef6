// c63gen: makes video with known motion.

#include "generate/generate_run.h"

int main(int argc, char** argv) {
  c63::tools::GenerateOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63gen",
       .description = "Make a video with known motion: the same bytes on every machine.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_generate(session, options); },
       .examples = {{"c63gen --pattern pan --mv 3,-2 -w 352 -h 288 -f 30 --truth motion.csv -o pan_352x288.yuv",
                     "Make a video that moves by a known vector, and write the true motion to a file"},
                    {"c63gen -w 1920 -h 1080 -f 60 -o natural.y4m", "Make a natural-looking video for measurements"}}});
}
