#include "encode_target.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "c63/error.h"
#include "encode_options.h"
#include "io/descriptor.h"
#include "io/frame_writer.h"
#include "segments/input_identity.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

double number_from(const std::string& option, std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw CLI::ValidationError(option, fmt::format("\"{}\" is no number", text));
  }
  return value;
}

/// "800k", "2.5M", "96000".
double bitrate_from(const std::string& text) {
  const char unit = text.empty() ? ' ' : text.back();
  const double factor = unit == 'k' ? 1e3 : unit == 'M' ? 1e6 : 1;
  return factor * number_from("--bitrate", std::string_view(text).substr(0, text.size() - (factor == 1 ? 0 : 1)));
}

/// "1.5x", "1.5".
double cap_from(const std::string& text) {
  const double cap = number_from("--gop-cap", std::string_view(text).substr(0, text.size() - (text.size() > 1 && text.ends_with('x') ? 1 : 0)));
  if (!(cap >= 1 && cap <= 1e6)) throw CLI::ValidationError("--gop-cap", "it is 1 or more");
  return cap;
}

/// "38", "y:38", "all:38".
Target psnr_from(const std::string& text) {
  const auto colon = text.find(':');
  const std::string planes = colon == std::string::npos ? "y" : text.substr(0, colon);
  if (planes != "y" && planes != "all") throw CLI::ValidationError("--target-psnr", "it is of y or of all planes");
  return {planes == "y" ? Target::Kind::psnr_y : Target::Kind::psnr_all,
          number_from("--target-psnr", colon == std::string::npos ? text : text.substr(colon + 1))};
}

/// Everything that the figures of a pass depend on, but for the quality.
ordered_json identity_of(const EncodeOptions& o) {
  ordered_json settings = settings_json(o.encoder);
  for (const char* key : {"qp", "lambda_scale", "threads", "lanes", "simd", "max_pixels", "max_memory_bytes", "differences_from_course"}) {
    settings.erase(key);
  }
  const InputIdentity input = identify_input(o.source.path);
  ordered_json content = {{"bytes", input.bytes}, {"sample_sha256", input.sample_sha256}};
  // A spooled file is written anew each time.
  if (o.target.spool.empty()) content["modified_ns"] = input.modified_ns;
  return {{"input", o.target.input},
          {"content", content},
          {"width_pixels", o.encoder.coding.width},
          {"height_pixels", o.encoder.coding.height},
          {"first_frame", o.first_frame},
          {"most_frames", o.max_frames},
          {"prefilter", o.prefilter ? name(*o.prefilter) : "none"},
          {"settings", settings}};
}

}  // namespace

void add_target_options(CLI::App& app, TargetOptions& o) {
  const std::string group = "Targets";
  std::vector<CLI::Option*> targets;
  const auto add = [&](const std::string& option, const std::string& unit, const std::string& text, auto parse) {
    targets.push_back(app.add_option_function<std::string>(
                             option, [&o, parse](const std::string& value) { o.target = parse(value); }, text)
                          ->type_name(unit)
                          ->group(group));
  };
  add("--bitrate", "BITS", "Bits per second to stay below, nearly (800k, 2.5M): as many passes over the input as it takes",
      [](const std::string& text) { return Target{Target::Kind::bitrate, bitrate_from(text)}; });
  CLI::Option* size = app.add_option_function<std::uint64_t>(
                             "--size", [&o](std::uint64_t bytes) { o.target = {Target::Kind::bytes, static_cast<double>(bytes)}; },
                             "Bytes to stay below, nearly (2MiB, 1500kB)")
                          ->transform(CLI::AsSizeValue(true))
                          ->type_name("BYTES")
                          ->group(group);
  targets.push_back(size);
  add("--target-psnr", "DB", "PSNR to reach, of luma (38) or of all planes (all:38)", psnr_from);
  add("--target-ssim", "X", "SSIM of luma to reach (0.97)",
      [](const std::string& text) { return Target{Target::Kind::ssim_y, number_from("--target-ssim", text)}; });
  for (CLI::Option* a : targets) {
    for (CLI::Option* b : targets) {
      if (a != b) a->excludes(b);
    }
  }
  app.add_option_function<std::string>(
         "--gop-cap", [&o](const std::string& text) { o.gop_cap = cap_from(text); },
         "With --bitrate: no GOP takes more than that many times what the rate gives for its duration (1.5x)")
      ->type_name("X")
      ->group(group);
  app.add_option("--stats", o.stats, "Keep what each pass came to in this file, and begin with what it has")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--spool", o.spool, "Keep input that cannot be read twice in this folder meanwhile")
      ->type_name("FOLDER")
      ->group(group);
}

void check_target_options(const TargetOptions& o) {
  if (!o.gop_cap) return;
  if (!o.target || o.target->kind != Target::Kind::bitrate) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--gop-cap is for a bit rate: it goes with --bitrate");
  }
  if (!o.stats.empty()) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--stats keeps what passes came to, but not their GOPs: it is not for --gop-cap");
  }
}

std::vector<TargetPass> TargetPasses::load(const EncodeOptions& options, spdlog::logger& log) {
  const std::string& path = options.target.stats;
  std::error_code fault;
  if (path.empty() || !fs::exists(path, fault)) return {};
  try {
    const ordered_json json = ordered_json::parse(std::ifstream(path));
    if (json.at("encode") != identity_of(options)) {
      log.warn("{}: it has the passes of another encode; they are not used", path);
      return {};
    }
    std::vector<TargetPass> passes;
    for (const auto& pass : json.at("passes")) passes.push_back(target_pass_from(pass));
    return passes;
  } catch (const ordered_json::exception&) {
    throw Error(ErrorKind::input, "C63-STATS", "it is no statistics file of c63enc", {.file = path});
  }
}

void TargetPasses::save() const {
  if (options_.target.stats.empty()) return;
  ordered_json json = {{"encode", identity_of(options_)}, {"passes", ordered_json::array()}};
  for (const TargetPass& pass : passes()) json["passes"].push_back(to_json(pass));
  write_json(options_.target.stats, json, options_.durability);
}

TargetPasses::TargetPasses(const EncodeOptions& options, spdlog::logger& log)
    : options_(options), log_(log), search_(options.encoder.coding, *options.target.target, load(options, log)) {
  if (options.target.gop_cap) {
    capped_.emplace(options.encoder.coding, options.target.target->value, *options.target.gop_cap);
    log_.info("{}, and no GOP of more than {} times that, by passes over the whole input", describe(*options.target.target),
              *options.target.gop_cap);
    return;
  }
  log_.info("{}, by passes over the whole input", describe(*options.target.target));
  if (!passes().empty()) log_.info("{}: {} passes that were made before", options.target.stats, passes().size());
}

bool TargetPasses::take(const EncodeTotals& totals, const VideoFormat& format) {
  const QualityTotals& quality = totals.quality;
  const std::size_t own = capped_ ? capped_->next().gops.size() : 0;
  const PassFigures figures{.frames = totals.summary.frames,
                                 .bytes = totals.summary.bytes,
                                 .frames_per_s = format.rate.value(),
                                 .psnr_y_db = quality.psnr_of_plane(0),
                                 .psnr_all_db = quality.psnr_of_all(),
                                 .ssim_y = options_.encoder.measurement.ssim ? quality.mean_ssim(0) : 0};
  const bool done = capped_ ? capped_->add(figures, totals.gops) : search_.add(figures);
  const double distance = capped_ ? capped_->distance() : search_.distance();
  const bool met = capped_ ? capped_->met() : search_.met();
  const TargetPass& pass = passes().back();
  const Target::Kind kind = options_.target.target->kind;
  const bool of_size = kind == Target::Kind::bytes || kind == Target::Kind::bitrate;
  log_.info("pass {}: qp {}, lambda scale {}: {} bytes, {:.2f} kb/s, PSNR Y {:.3f} all {:.3f}{}; {}{}", ++made_, pass.qp,
            pass.lambda_scale, pass.figures.bytes, kilobits_per_second(totals.summary, format), pass.figures.psnr_y_db,
            pass.figures.psnr_all_db,
            options_.encoder.measurement.ssim ? fmt::format(", SSIM Y {:.5f}", pass.figures.ssim_y) : "",
            of_size ? fmt::format("{:+.2f} %", 100 * distance) : fmt::format("{:+.3f} dB", distance),
            capped_ ? fmt::format("; {} of {} GOPs at a quality of their own, {} over the cap", own, totals.gops.size(), capped_->over())
                    : "");
  if (done && !met) {
    log_.warn("{} is not met more nearly: {}the format and the content allow no other", describe(*options_.target.target),
              capped_ ? "the cap, " : "");
  }
  save();
  return done;
}

bool can_be_read_again(const std::string& path) {
  std::error_code fault;
  return path != "-" && fs::is_regular_file(path, fault);
}

bool is_written_directly(const std::string& path) {
  std::error_code fault;
  const fs::file_status status = fs::status(path, fault);
  return path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/") || (fs::exists(status) && !fs::is_regular_file(status));
}

Spool::Spool(const std::string& folder, FrameSource& source) {
  // A folder of its own: machines and containers that share the outer one may have the same process id.
  folder_ = (fs::path(folder) / "c63-spool-XXXXXX").string();
  if (::mkdtemp(folder_.data()) == nullptr) {
    throw system_fault(ErrorKind::output, "C63-WRITE-OPEN", "cannot make a folder for the input in it (--spool)", errno, {.file = folder});
  }
  path_ = (fs::path(folder_) / "input.yuv").string();
  try {
    fill(source);
  } catch (...) {
    remove();
    throw;
  }
}

void Spool::fill(FrameSource& source) {
  const VideoFormat format = source.format();
  const auto writer = open_frame_writer(path_, format.rate);
  std::vector<std::uint8_t> frame(frame_bytes(format.width, format.height));
  for (; source.read(frames_, frame); ++frames_) writer->write(format.width, format.height, frame);
  writer->commit();
}

Spool::~Spool() { remove(); }

void Spool::remove() noexcept {
  std::error_code fault;
  fs::remove_all(folder_, fault);
}

}  // namespace c63::tools
