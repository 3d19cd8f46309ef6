// c63bench: measures kernels and stages, and compares them with ceilings measured in the same run.

#include "bench/benches.h"

int main(int argc, char** argv) {
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63bench",
       .description = "Measure kernels and stages against what the machine can do at most.",
       .subcommands = c63::bench::benches(),
       .examples = {{"c63bench cpu --json cpu.json", "Measure the CPU's kernels against its ceilings"},
                    {"c63bench cpu --search mine.c", "Race your own search on the CPU (docs/race.md)"},
                    {"c63bench me --kernel mine.cu", "Race your own kernel on the GPU"},
                    {"c63bench page docs/results/gpu-h200.json -o ladder.html",
                     "Make the page of a GPU's motion kernels from a result file"},
                    {"c63bench estimate --json estimate.json", "Measure OpenCV's, FFmpeg's and NVIDIA's motion too"},
                    {"c63bench filter --only histogram", "Measure one filter"}}});
}
