#include "encode/encode_target.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>

#include "c63/error.h"
#include "common/options.h"
#include "common/values.h"
#include "encode/encode_options.h"
#include "files/frame_writer.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;

/// Reads --target-psnr, such as "38", "y:38" or "all:38".
std::optional<Target> psnr_from(const std::string& text) {
  const auto colon = text.find(':');
  const std::string planes = colon == std::string::npos ? "y" : text.substr(0, colon);
  const auto value = parse<double>(colon == std::string::npos ? text : text.substr(colon + 1));
  if (!value || (planes != "y" && planes != "all")) return std::nullopt;
  return Target{planes == "y" ? Target::Kind::psnr_y : Target::Kind::psnr_all, *value};
}

}  // namespace

void add_target_options(CLI::App& app, TargetOptions& o) {
  const auto of = [](Target::Kind kind, auto parse) {
    return [kind, parse](const std::string& text) {
      const auto value = parse(text);
      return value ? std::optional(Target{kind, static_cast<double>(*value)}) : std::nullopt;
    };
  };
  const auto ssim_from = [](const std::string& text) { return parse<double>(text); };
  add_options(app, "Targets",
              {{"bitrate", into(o.target, of(Target::Kind::bitrate, quantity_from))},
               {"size", into(o.target, of(Target::Kind::bytes, count_from))},
               {"target-psnr", into(o.target, psnr_from)},
               {"target-ssim", into(o.target, of(Target::Kind::ssim_y, ssim_from))},
               {"--stats", &o.stats, "FILE", "Save the results of each pass in this file. If it exists, reuse the passes in it"},
               {"--spool", &o.spool, "FOLDER", "Folder for a temporary copy of input that can be read only once, such as a pipe"}});
}

namespace {

std::vector<TargetPass> load(SideOutput<StatsFile>& stats, const VideoFormat& format, spdlog::logger& log) {
  std::vector<TargetPass> passes;
  stats.use([&](const StatsFile& file) { passes = file.load(format.rate.value(), log); });
  return passes;
}

}  // namespace

TargetPasses::TargetPasses(const EncodeOptions& options, const VideoFormat& format, spdlog::logger& log)
    : options_(options),
      log_(log),
      stats_(options.target.stats.empty() ? nullptr : std::make_unique<StatsFile>(options)),
      search_(options.encoder.coding, options.target.target.value(), load(stats_, format, log)) {
  log_.info("target: {}; several passes over the whole input follow", describe(*options.target.target));
  if (!passes().empty()) log_.info("{}: {} earlier passes are reused", options.target.stats, passes().size());
}

bool TargetPasses::take(const EncodeTotals& totals, const VideoFormat& format) {
  const QualityTotals& quality = totals.quality;
  const MeasurementSettings& measured = options_.encoder.measurement;
  PassFigures figures{.frames = totals.summary.frames, .bytes = totals.summary.bytes, .frames_per_s = format.rate.value()};
  if (totals.key_bytes > 0) figures.key_bytes = totals.key_bytes;
  if (measured.psnr) figures.psnr_y_db = quality.psnr_of_plane(0);
  if (measured.psnr) figures.psnr_all_db = quality.psnr_of_all();
  if (measured.ssim && !std::isnan(quality.mean_ssim(0))) figures.ssim_y = quality.mean_ssim(0);
  const auto log_and_keep = [&] {
    log_pass(totals, format);
    stats_.use([&](const StatsFile& file) { file.save(passes()); });
  };
  bool done = false;
  try {
    done = search_.add(figures);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::limit) log_and_keep();
    throw;
  }
  log_and_keep();
  if (done && !search_.met()) log_.warn("{}", search_.shortfall());
  return done;
}

/// Logs the pass that was made last.
void TargetPasses::log_pass(const EncodeTotals& totals, const VideoFormat& format) {
  const TargetPass& pass = passes().back();
  const double distance = search_.distance(pass);
  log_.info("pass {}: qp {}, lambda scale {}: {} bytes, {:.2f} kb/s, PSNR Y {:.3f} all {:.3f}{}; {}", ++made_,
            pass.qp, pass.lambda_scale, pass.figures.bytes, kilobits_per_second(totals.summary, format),
            totals.quality.psnr_of_plane(0), totals.quality.psnr_of_all(),
            pass.figures.ssim_y ? fmt::format(", SSIM Y {:.5f}", *pass.figures.ssim_y) : "",
            options_.target.target->is_size() ? fmt::format("{:+.2f} %", 100 * distance) : fmt::format("{:+.3f} dB", distance));
}

bool can_be_read_again(const std::string& path) {
  std::error_code fault;
  return path != "-" && fs::is_regular_file(path, fault);
}

// ScratchFolder gives the folder's name a random ending. A process id would not make the name unique: machines or
// containers that share the outer folder may use the same id.
Spool::Spool(const std::string& folder, FrameSource& source, const std::stop_token& stop)
    : folder_(folder, "c63-spool"), path_(folder_.file("input.yuv")) {
  try {
    fill(source, stop);
  } catch (const Error& error) {
    // The error names the user's folder, not a file in it that the user does not know.
    if (error.place().file != path_) throw;
    throw Error(error.kind(), error.id(), "cannot copy the input to this folder (--spool): " + error.message(),
                {.file = folder});
  }
}

void Spool::fill(FrameSource& source, const std::stop_token& stop) {
  const VideoFormat format = source.format();
  const auto writer = open_frame_writer(path_, format.rate);
  std::vector<std::uint8_t> frame(frame_bytes(format.width, format.height));
  for (; !stop.stop_requested() && source.read(frames_, frame); ++frames_) writer->write(format.width, format.height, frame);
  writer->commit();
}

}  // namespace c63::tools
