#include "encode/encode_target.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <charconv>
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

double number_from(const std::string& option, std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw CLI::ValidationError(option, fmt::format("\"{}\" is not a number", text));
  }
  return value;
}

double bitrate_from(const std::string& text) {
  const auto bits = quantity_from(text);
  if (!bits) throw CLI::ValidationError("--bitrate", fmt::format("\"{}\" is not a bit rate like 800k or 2.5M", text));
  return *bits;
}

/// Reads --target-psnr, such as "38", "y:38" or "all:38".
Target psnr_from(const std::string& text) {
  const auto colon = text.find(':');
  const std::string planes = colon == std::string::npos ? "y" : text.substr(0, colon);
  if (planes != "y" && planes != "all")
    throw CLI::ValidationError("--target-psnr", "the planes must be y or all, as in all:38");
  return {planes == "y" ? Target::Kind::psnr_y : Target::Kind::psnr_all,
          number_from("--target-psnr", colon == std::string::npos ? text : text.substr(colon + 1))};
}

}  // namespace

void add_target_options(CLI::App& app, TargetOptions& o) {
  const OptionGroup group(app, "Targets");
  const auto add = [&](std::string_view name, auto take) {
    const std::string option = names_on_command_line(option_info(name));
    return describe_by_table(app.add_option_function<std::string>(option, take), name);
  };
  const auto add_target = [&](std::string_view name, auto parse) {
    return add(name, [&o, parse](const std::string& value) { o.target = parse(value); });
  };
  const std::vector<CLI::Option*> targets = {
      add_target("bitrate", [](const std::string& text) { return Target{Target::Kind::bitrate, bitrate_from(text)}; }),
      add_target("size", [](const std::string& bytes) { return Target{Target::Kind::bytes, std::stod(bytes)}; })
          ->transform(number_of("bytes", "2MiB")),
      add_target("target-psnr", psnr_from),
      add_target("target-ssim",
                 [](const std::string& text) { return Target{Target::Kind::ssim_y, number_from("--target-ssim", text)}; })};
  for (CLI::Option* a : targets) {
    for (CLI::Option* b : targets) {
      if (a != b) a->excludes(b);
    }
  }
  group.add("--stats", o.stats, "FILE",
            "Save the results of each pass in this file. If it exists, reuse the passes in it");
  group.add("--spool", o.spool, "FOLDER",
            "Folder for a temporary copy of input that can be read only once, such as a pipe");
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
  if (done && !search_.met()) {
    log_.warn("cannot get closer to {}: the format and the content allow nothing in between", describe(*options_.target.target));
  }
  return done;
}

/// Logs the pass that was made last.
void TargetPasses::log_pass(const EncodeTotals& totals, const VideoFormat& format) {
  const TargetPass& pass = passes().back();
  const Target::Kind kind = options_.target.target->kind;
  const bool of_size = kind == Target::Kind::bytes || kind == Target::Kind::bitrate;
  log_.info("pass {}: qp {}, lambda scale {}: {} bytes, {:.2f} kb/s, PSNR Y {:.3f} all {:.3f}{}; {}", ++made_,
            pass.qp, pass.lambda_scale, pass.figures.bytes, kilobits_per_second(totals.summary, format),
            totals.quality.psnr_of_plane(0), totals.quality.psnr_of_all(),
            pass.figures.ssim_y ? fmt::format(", SSIM Y {:.5f}", *pass.figures.ssim_y) : "",
            of_size ? fmt::format("{:+.2f} %", 100 * distance()) : fmt::format("{:+.3f} dB", distance()));
}

bool TargetPasses::keeps_promise() const {
  const Target::Kind kind = options_.target.target->kind;
  if (kind != Target::Kind::bytes && kind != Target::Kind::bitrate) return search_.met();
  // For a target size or bit rate, a pass may be kept if its stream is not too large, even if it is much too small.
  return distance() <= 0;
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
