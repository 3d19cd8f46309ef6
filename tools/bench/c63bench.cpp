// c63bench: measures kernels and stages, and compares them with ceilings measured in the same run.

#include "bench/bench.h"

int main(int argc, char** argv) {
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63bench",
       .description = "Measure kernels and stages, and compare them with the limits of the machine.",
       .subcommands = c63::bench::benches(),
       .examples = {{"c63bench cpu --json cpu.json", "Measure the CPU's kernels, and compare them with its limits"},
                    {"c63bench cpu --search mine.c", "Race your own search on the CPU (docs/race.md)"},
                    {"c63bench me --kernel mine.cu", "Race your own kernel on the GPU"},
                    {"c63bench board me.json mine.json -o board.html", "Rank the results of several runs on one page"},
                    {"c63bench estimate --json estimate.json",
                     "Also measure the motion estimators of OpenCV, FFmpeg and NVIDIA"},
                    {"c63bench filter --only histogram", "Measure one filter"}}});
}
