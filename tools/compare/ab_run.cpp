#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "c63/error.h"
#include "common/backends.h"
#include "common/errors.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/values.h"
#include "compare/ab_result.h"
#include "compare/commands.h"
#include "files/output_file.h"
#include "motion/motion_page.h"

namespace c63::tools {
namespace {

std::vector<Configuration> configurations_of(const AbOptions& o) {
  const std::vector<std::string> quantizers = split_list(o.quantizers);
  std::vector<Configuration> list;
  if (o.a) list.push_back(parse_configuration("a", *o.a, quantizers));
  if (o.b) list.push_back(parse_configuration("b", *o.b, quantizers));
  for (const std::string& entry : o.more) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage, "C63-USAGE", "--side takes NAME=OPTIONS, not \"" + entry + "\"");
    }
    list.push_back(parse_configuration(entry.substr(0, equals), entry.substr(equals + 1), quantizers));
  }
  if (list.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "nothing to run: give --a and --b, or --side NAME=OPTIONS");
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (list[i].name == list[k].name) throw Error(ErrorKind::usage, "C63-USAGE", "two sides are called " + list[i].name);
    }
  }
  return list;
}

std::size_t anchor_of(const std::string& name, const std::vector<Configuration>& sides) {
  if (name.empty()) return 0;
  const auto found = std::ranges::find(sides, name, &Configuration::name);
  if (found != sides.end()) return static_cast<std::size_t>(found - sides.begin());
  std::string names;
  for (const Configuration& side : sides) names += (names.empty() ? "" : ", ") + side.name;
  throw Error(ErrorKind::usage, "C63-USAGE", "--anchor takes the name of a side (" + names + "), not \"" + name + "\"");
}

void check_command_line(const Session& session, const AbOptions& o) {
  if (o.inputs.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no input video was given");
  if ((o.width == 0) != (o.height == 0)) {
    throw Error(ErrorKind::usage, "C63-USAGE", "width and height go together: give both -w and -h");
  }
  if (!o.html.empty()) require_charts();
  std::vector<NamedPath> inputs;
  for (const std::string& path : o.inputs) inputs.push_back({"an input", path});
  check_distinct_files(inputs, {{"--html", o.html},
                                {"--csv", o.csv},
                                {"--json", o.json},
                                {"--log-file", session.common.log.file}});
}

/// Opens an output; null if there is none. It is called before the first run, so that a bad file name is found before
/// hours of runs.
std::unique_ptr<OutputFile> open_output(const std::string& path, Durability durability) {
  return path.empty() ? nullptr : std::make_unique<OutputFile>(path, durability);
}

void write_text(OutputFile& file, const std::string& text) {
  file.write(text);
  file.commit();
}

}  // namespace

void add_options(CLI::App& app, AbOptions& o) {
  add_options(
      app, "A/B",
      {{"inputs", &o.inputs, "FILE...", "Videos to encode", {.daily = true}},
       {"--a", &o.a, "TEXT",
        "First side to compare: options of c63enc, or another encoder's command with {in} {out} {qp}. The other sides are "
        "compared with this one, unless --anchor names another",
        {.daily = true}},
       {"--b", &o.b, "TEXT", "Second side to compare, in the same form", {.daily = true}},
       {"--side", &o.more, "NAME=TEXT", "One more side; may be given more than once", {.daily = true, .takes_one = true}},
       {"--anchor", &o.anchor, "NAME", "Side that the others are compared with, instead of the first", {.daily = true}},
       {"--qp", &o.quantizers, "LIST", "Quality settings to encode with, for each side that does not set its own", {.daily = true}},
       {"--repeat", &o.repeat, "N", "Number of measured rounds", {.daily = true, .least = 1, .most = 100000}},
       {"--warmup", &o.warmup, "N", "Number of rounds before them that are not measured", {.daily = true, .least = 0, .most = 100000}},
       {"-w,--width", &o.width, "PIXELS", "Width of raw video", {.daily = true, .least = 1, .most = 65535}},
       {"-h,--height", &o.height, "PIXELS", "Height of raw video", {.daily = true, .least = 1, .most = 65535}},
       {"--fps", into(o.rate, frame_rate_from), "RATE", "Frames per second of raw video", {.example = "30000/1001"}},
       {"-f,--frames", &o.max_frames, "N", "Encode no more frames than this; 0: all", {.daily = true, .least = 0}},
       {"--seek", &o.first_frame, "N", "Skip this many frames at the start of each video", {.least = 0}},
       {"--ssim,!--no-ssim", &o.ssim, "", "Measure SSIM (on by default)"},
       {"--bitexact", &o.bit_exact, "", "Fail (exit code 3) if c63enc sides write different bytes"},
       {"--pictures,!--no-pictures", &o.pictures, "", "Put the frames of each side into the report (on by default)"},
       {"--picture-frame", &o.picture_frame, "N", "Number of the frame that the report shows first", {.least = 0}},
       {"--c63enc", &o.encoder, "FILE", "c63enc program to run; without this option the one next to c63cmp"},
       {"--keep", &o.keep, "FOLDER", "Keep every stream in this folder"},
       {"--html", &o.html, "FILE", "Write the report as one HTML page, which needs no network"},
       {"--csv", &o.csv, "FILE", "Write a CSV row per input, side and quality"},
       {"--json", &o.json, "FILE", "Write all results as JSON"}});
  add_output_options(app, o.durability);
  add_limit_options(app, o.limits);
}

int run_ab(const Session& session, const AbOptions& o) {
  check_command_line(session, o);
  AbResult result;
  result.configurations = configurations_of(o);
  result.anchor = anchor_of(o.anchor, result.configurations);
  result.repeat = o.repeat;
  result.warmup = o.warmup;
  result.process_clock = std::any_of(result.configurations.begin(), result.configurations.end(),
                                     [](const Configuration& c) { return c.external; });
  result.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
  result.devices = list_devices();
  const auto html = open_output(o.html, o.durability);
  const auto csv = open_output(o.csv, o.durability);
  const auto json = open_output(o.json, o.durability);
  const bool with_frames = html && o.pictures && !analyzer_page().empty();
  if (html && o.pictures && !with_frames) session.log->warn("the report has no frames: this c63 was built without the analyzer [C63-NO-PAGE]");
  run_sides(session, o, result, with_frames);
  if (result.points.empty()) {
    session.log->info("stopped before the first round was finished, so there is no report");
    return kExitDone;  // the caller returns the signal's exit code
  }
  compare_points(result);
  if (o.html != "-" && o.csv != "-" && o.json != "-") write_stdout(ab_text(result));
  if (html) write_text(*html, ab_html(result));
  if (csv) write_text(*csv, ab_csv(result));
  if (json) write_json(*json, ab_json(result));
  const bool different =
      std::any_of(result.bytes.begin(), result.bytes.end(),
                  [](const auto& b) { return !b["identical"].template get<bool>(); }) ||
      std::any_of(result.points.begin(), result.points.end(), [](const AbPoint& p) { return !p.reproducible; });
  if (o.bit_exact && different) {
    throw Error(ErrorKind::comparison, "C63-CMP-DIFFERENT", "sides or runs wrote different bytes at the same quantizer");
  }
  return kExitDone;
}

}  // namespace c63::tools
