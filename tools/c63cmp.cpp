// Compares videos, and encoders.

#include "common/command_line.h"
#include "compare/ab_run.h"
#include "compare/metric_run.h"

int main(int argc, char** argv) {
  c63::tools::MetricRunOptions metrics;
  c63::tools::AbOptions ab;
  const CLI::App* ab_command = nullptr;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63cmp",
       .description = "Compare videos with a reference: PSNR, SSIM, first difference. Compare encoders: c63cmp ab.",
       .add_options =
           [&](CLI::App& app) {
             c63::tools::add_options(app, metrics);
             CLI::App* command = app.add_subcommand("ab", "Compare encoders or settings: speed, rate, quality, bytes");
             command->fallthrough();
             command->set_help_flag("--help", "Print this help and exit")->group("General");
             c63::tools::add_options(*command, ab);
             ab_command = command;
           },
       .run = [&](const c63::tools::Session& session) {
         return ab_command->parsed() ? c63::tools::run_ab(session, ab) : c63::tools::run_metrics(session, metrics);
       }});
}
