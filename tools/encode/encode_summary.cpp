#include <fmt/format.h>
#include <spdlog/logger.h>

#include <cmath>
#include <optional>
#include <string>

#include "common/report.h"
#include "encode/encode_program.h"

namespace c63::tools {
namespace {

/// Returns true if PSNR probably differs by more than 1 dB from that of preset reference at the same -q. The sign is a squared
/// error of luma that is large against the square of the step. It was right in 69 of 72 encodes (docs/notes/rate-q.md): course
/// tables discard what flat tables keep. A smaller error says nothing about the difference.
bool is_far_from_reference(const EncodeReport& report) {
  const CodingSettings& coding = report.settings.coding;
  const std::optional<int> step = flat_step(coding);
  const bool is_usual = coding.preset != Preset::reference && coding.rate.lambda_scale == 1;
  if (!is_usual || !step || report.target || !report.settings.measurement.psnr) return false;
  constexpr double kMuch = 0.12;  // of a squared step
  const double error = 255.0 * 255.0 / std::pow(10.0, report.totals.quality.psnr_of_plane(0) / 10);
  return error > kMuch * *step * *step;
}

}  // namespace

void log_result(const Session& session, const EncodeOptions& options, const EncodeReport& report,
                std::optional<std::int64_t> frame_count, bool stopped_search) {
  spdlog::logger& log = *session.log;
  const EncodeTotals& totals = report.totals;
  // Without further options, only the input, the progress and the result are logged, and the shares of devices if there are
  // several. -v adds the settings and where the time went.
  log.debug("{}", settings_line(totals.summary, options.encoder));
  if (totals.summary.devices.size() > 1) log.info("{}", devices_line(totals.summary));
  log.debug("{}", stages_line(totals));
  log.debug("{}", limit_line(totals.summary));
  if (totals.summary.lanes == 1) log.debug("{}", latency_line(totals));
  if (report.kinds) log.info("{}", kinds_line(*report.kinds));
  if (options.timing) {
    for (const std::string& line : timing_table(totals)) log.info("{}", line);
  }
  if (options.verify) log.info("verified: every frame decodes to the encoder's reconstruction");
  if (report.cpu) log.info("{}", comparison_line(totals, *report.cpu));
  const std::string search = report.passes.size() == 1 ? "stopped after 1 pass, which is kept: "
                                                        : fmt::format("stopped after {} passes, the best is kept: ", report.passes.size());
  session.summary->info("{}{}; {}", stopped_search ? search : "", result_line(totals, report.format, frame_count),
                         quality_line(totals, options.encoder));
  if (!stopped_search && is_far_from_reference(report)) {
    log.info(
        "PSNR probably differs by more than 1 dB from preset reference's at the same -q; use --target-psnr to set the "
        "PSNR");
  }
}

}  // namespace c63::tools
