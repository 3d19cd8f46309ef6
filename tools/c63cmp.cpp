// Compares videos, and encoders.

#include "common/command_line.h"
#include "compare/metric_run.h"

int main(int argc, char** argv) {
  c63::tools::MetricRunOptions metrics;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63cmp",
       .description = "Compare videos with a reference: PSNR, SSIM, first difference.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, metrics); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_metrics(session, metrics); }});
}
