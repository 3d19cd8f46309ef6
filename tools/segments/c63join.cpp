// c63join: joins the segments of a video that c63enc encoded separately.

#include "segments/join.h"

int main(int argc, char** argv) {
  c63::tools::JoinOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63join",
       .description = "Join the segments of a video to one c63 stream.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_join(session, options); },
       .examples = {{"c63join -o out.c63 seg*.c63", "Check and join all segments of a video"}}});
}
