// Compares videos, and encoders.

#include "common/command_line.h"
#include "compare/ab_run.h"
#include "compare/metric_run.h"

int main(int argc, char** argv) {
  c63::tools::MetricRunOptions metrics;
  c63::tools::AbOptions ab;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63cmp",
       .description = "Compare videos with a reference: PSNR, SSIM, first difference. Compare encoders: c63cmp ab.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, metrics); },
       .run = [&](const c63::tools::Session& session) { return c63::tools::run_metrics(session, metrics); },
       .subcommands = {{.name = "ab",
                        .description = "Compare encoders or settings: speed, rate, quality, bytes",
                        .add_options = [&](CLI::App& app) { c63::tools::add_options(app, ab); },
                        .run = [&](const c63::tools::Session& session) { return c63::tools::run_ab(session, ab); }}},
       .examples = {{"c63cmp FOREMAN_352x288.yuv foreman.c63", "PSNR and SSIM of a stream against what was encoded"},
                    {"c63cmp --bitexact --quiet a.yuv b.yuv", "Exit with 3 if two videos differ"},
                    {"c63cmp ab FOREMAN_352x288.yuv --a '--preset reference' --b '--preset good' --qp 10,20,30 --html "
                     "report.html",
                     "Compare two settings over qualities in a report"}}});
}
