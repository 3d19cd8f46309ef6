// c63cmp: compares videos with a reference, compares encoders (ab), and checks the motion vectors of a stream (motion).

#include "c63/error.h"
#include "common/command_line.h"
#include "common/errors.h"
#include "compare/commands.h"

namespace c63::tools {
namespace {

/// Returns a run function that reports no error after a stop request: a pipe that still had to write then ends early, in the
/// middle of a frame. run_main() returns the signal's exit code.
template <typename Options>
auto stoppable(int (*run)(const Session&, const Options&), const Options& options) {
  return [run, &options](const Session& session) -> int {
    try {
      return run(session, options);
    } catch (const Error&) {
      if (!session.stop.stop_requested()) throw;
      return kExitDone;
    }
  };
}

}  // namespace
}  // namespace c63::tools

int main(int argc, char** argv) {
  c63::tools::MetricRunOptions metrics;
  c63::tools::AbOptions ab;
  c63::tools::MotionAuditOptions motion;
  return c63::tools::run_main(
      argc, argv,
      {.name = "c63cmp",
       .description = "Compare videos with a reference: PSNR, SSIM, first difference. Compare encoders: c63cmp ab. "
                      "Check motion vectors: c63cmp motion.",
       .add_options = [&](CLI::App& app) { c63::tools::add_options(app, metrics); },
       .run = c63::tools::stoppable(c63::tools::run_metrics, metrics),
       .subcommands =
           {{.name = "ab",
             .description = "Compare encoders or settings: speed, rate, quality, bytes",
             .add_options = [&](CLI::App& app) { c63::tools::add_options(app, ab); },
             .run = [&](const c63::tools::Session& session) { return c63::tools::run_ab(session, ab); }},
            {.name = "motion",
             .description = "Compare every motion vector of a stream with exact search in the same reference pictures",
             .add_options = [&](CLI::App& app) { c63::tools::add_options(app, motion); },
             .run = c63::tools::stoppable(c63::tools::run_motion_audit, motion)}},
       .examples = {{"c63cmp FOREMAN_352x288.yuv foreman.c63", "Measure PSNR and SSIM of a stream against its source"},
                    {"c63cmp --bitexact --quiet a.yuv b.yuv", "Exit with 3 if two videos differ"},
                    {"c63cmp ab FOREMAN_352x288.yuv --a '--preset reference' --b '--preset good' --qp 10,20,30 --html "
                     "report.html",
                     "Compare two settings at several qualities, and write a report"},
                    {"c63cmp motion foreman.c63 FOREMAN_352x288.yuv",
                     "Show where the vectors of a stream differ from exact search, and what that costs"}}});
}
