// c63mv: shows the motion in c63 streams, and searches the motion of films.

#include "motion/motion_run.h"

int main(int argc, char** argv) {
  c63::tools::MotionOptions options;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63mv",
       .description =
           "Show the motion in a c63 stream: vectors, SADs, bits. Find the motion of any other video by exact search.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, options); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_motion(session, options); },
       .examples = {{"c63mv foreman.c63", "Summarize the motion of a stream"},
                    {"c63mv foreman.c63 -o motion.html",
                     "Write a page that shows vectors, SADs and bits of every block"},
                    {"c63mv foreman.c63 --frame 12 -o motion.png", "Draw one frame"},
                    {"c63mv film.mp4 -o motion.npz", "Search the motion of a film, for numpy"},
                    {"c63mv film.mp4 --codec-vectors -o motion.html",
                     "Show the vectors that the film was coded with, next to the exact ones"},
                    {"c63mv pan.c63 --truth motion.csv",
                     "Compare the vectors with the true motion of c63gen --truth"}}});
}
