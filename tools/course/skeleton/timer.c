/* Measures the time of each stage. With -DC63_NVTX, each stage is a range that Nsight Systems shows. */
#include "c63.h"

#include <time.h>

#ifdef C63_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

static const char *const names[STAGES] = {"read", "search", "predict", "transform", "reconstruct", "codes", "write"};
static double seconds[STAGES];
static double began;
static int current = STAGES;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void stage_end(void) {
  if (current == STAGES) return;
  seconds[current] += now() - began;
  current = STAGES;
#ifdef C63_NVTX
  nvtxRangePop();
#endif
}

void stage_begin(enum stage stage) {
  stage_end();
#ifdef C63_NVTX
  nvtxRangePushA(names[stage]);
#endif
  current = stage;
  began = now();
}

void stages_print(FILE *file, int frames) {
  double total = 0;
  for (int s = 0; s < STAGES; ++s) total += seconds[s];
  if (frames == 0 || total <= 0) return;
  fprintf(file, "%-12s %10s %12s %7s\n", "stage", "ms", "ms a frame", "share");
  for (int s = 0; s < STAGES; ++s) {
    if (seconds[s] <= 0) continue;
    fprintf(file, "%-12s %10.2f %12.4f %6.1f%%\n", names[s], 1e3 * seconds[s], 1e3 * seconds[s] / frames, 100 * seconds[s] / total);
  }
  fprintf(file, "%-12s %10.2f %12.4f %6.1f%%  (%.1f frames/s)\n", "all", 1e3 * total, 1e3 * total / frames, 100.0, frames / total);
}
