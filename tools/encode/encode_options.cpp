#include "encode/encode_options.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "c63/error.h"
#include "c63/own_search.h"
#include "c63/version.h"
#include "common/command_line.h"
#include "common/help.h"
#include "common/option_table.h"
#include "common/report.h"
#include "common/sidecar.h"
#include "common/values.h"
#include "race/own_search.h"
#include "segments/segment_record.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

const std::map<std::string, SourceFormat> kSourceFormats = {{"auto", SourceFormat::automatic},
                                                            {"raw", SourceFormat::raw},
                                                            {"y4m", SourceFormat::y4m},
                                                            {"av", SourceFormat::av}};

const std::string& name_of(SourceFormat format) {
  return std::ranges::find(kSourceFormats, format, [](const auto& entry) { return entry.second; })->first;
}

void add_input_options(CLI::App& app, EncodeOptions& o) {
  const std::string group = "Input and output";
  app.add_option("-i,--input,input", o.source.path,
                 "Video to encode: raw YUV 4:2:0, Y4M, or anything FFmpeg decodes; - is stdin")
      ->type_name("FILE")
      ->group(daily(group));
  app.add_option("-o,--output,output", o.output, "Stream to write; - is stdout")->type_name("FILE")->group(daily(group));
  auto* width = app.add_option("-w,--width", o.width, "Width of raw input")->type_name("PIXELS")->group(daily(group));
  auto* height = app.add_option("-h,--height", o.height, "Height of raw input")->type_name("PIXELS")->group(daily(group));
  app.add_option_function<std::string>(
         "--input-res",
         [&o](const std::string& text) {
           const auto size = size_from(text);
           if (!size) throw CLI::ValidationError("--input-res", "\"" + text + "\" is not a size like 352x288");
           o.width = size->first;
           o.height = size->second;
         },
         "Size of raw input, such as 352x288")
      ->type_name("WxH")
      ->excludes(width)
      ->excludes(height)
      ->group(group);
  add_frame_rate_option(app, std::string(option_info("fps").help), [&o](FrameRate rate) {
    o.source.rate = rate;
  })->group(group);
  app.add_option("-f,--frames", o.max_frames, "Encode no more frames than this; 0: all")
      ->check(whole_number())
      ->type_name("N")
      ->group(daily(group));
  app.add_option("--seek", o.first_frame, "Skip this many frames at the start of the input")
      ->check(whole_number())
      ->type_name("N")
      ->group(group);
  app.add_option_function<std::string>(
         "--input-format", [&o](const std::string& text) { o.source.format = kSourceFormats.at(text); },
         "What the input is: auto, raw, y4m, or av (FFmpeg)")
      ->check(CLI::IsMember(kSourceFormats))
      ->type_name("FORMAT")
      ->default_str("auto")
      ->group(group);
  app.add_option_function<std::string>(
         "--prefilter", [&o](const std::string& text) { o.prefilter = prefilter_from(text); },
         "Smooth the frames before coding: mean:K (KxK samples, K odd, at most 31), gauss:S (standard deviation, at "
         "most 5) or temporal:N (mean of N frames, 2 to 64). PSNR then compares with the smoothed frames")
      ->type_name("NAME")
      ->group(group);
  app.add_flag("--tolerant", o.source.tolerant,
               "If a video that FFmpeg reads is damaged, skip the damaged parts and warn how many there are, instead "
               "of ending there")
      ->group(group);
  app.add_flag("--strict", o.source.strict, "Treat a partial last frame as an error instead of a warning")
      ->group(group);
}

/// Reads --segment, such as "3/16".
std::pair<int, int> segment_from(const std::string& text) {
  const std::size_t slash = text.find('/');
  int number = 0;
  int of = 0;
  const auto parse = [&](std::size_t begin, std::size_t end, int& value) {
    const auto [at, fault] = std::from_chars(text.data() + begin, text.data() + end, value);
    return fault == std::errc() && at == text.data() + end;
  };
  if (slash == std::string::npos || !parse(0, slash, number) || !parse(slash + 1, text.size(), of) || number < 1 ||
      number > of || of > kMostSegments) {
    throw CLI::ValidationError(
        "--segment", fmt::format("\"{}\" is not a segment like 3/16: 1/N to N/N, N at most {}", text, kMostSegments));
  }
  return {number, of};
}

void add_segment_options(CLI::App& app, EncodeOptions& o) {
  const std::string group = "Segments";
  app.add_option_function<std::string>(
         "--segment", [&o](const std::string& text) { o.segment = segment_from(text); },
         "Encode only part I of N, and write a record file next to it. c63join joins the parts. A part that exists "
         "already is not encoded again")
      ->type_name("I/N")
      ->group(group);
  add_plan_option(app, o.segment_plan);
}

void add_machine_options(CLI::App& app, EncodeOptions& o) {
  add_backend_options(app, o.backend);
  add_table_options(app, o.encoder, {"lanes"});
  app.get_option("--lanes")->check(CLI::Range(0, 4096));  // so that an error in a --config file names its line
  add_simd_option(app, o.encoder.execution.simd);
  add_sync_option(app, o.durability);
  add_keep_partial_option(app, o.keep_partial);
  add_limit_options(app, o.encoder.execution.limits);
}

constexpr const char* kMeasurement = "Measurement";

void add_quality_options(CLI::App& app, EncodeOptions& o) {
  const std::string group = kMeasurement;
  add_table_options(app, o.encoder, {"psnr", "ssim"});
  add_file_option(app, "--json", o.json, "Write settings, machine and results as JSON", group);
  app.add_flag("--sidecar", o.sidecar,
               "Write the same next to the output, as OUTPUT.json; other c63 programs read the frame rate from it")
      ->group(group);
}

void add_measurement_options(CLI::App& app, EncodeOptions& o) {
  const std::string group = kMeasurement;
  add_table_options(app, o.encoder, {"global-motion"});
  app.add_flag("--verify", o.verify, "Decode every frame and compare it with the encoder's reconstruction")->group(group);
  app.add_flag("--compare-cpu", o.compare_cpu, "Encode on the CPU, too; print both times and whether the bytes agree")->group(group);
  app.add_flag("--bits", o.count_bits,
               "Count bits by kind (headers, flags, vectors, DC, AC, ends of blocks), also in CSV and JSON files; -v "
               "includes this")
      ->group(group);
  app.add_flag("--timing", o.timing, "Print the time of each stage")->group(group);
  const auto add_count = [&](const char* name, int& value, int least, const char* help) {
    app.add_option(name, value, help)->check(CLI::Range(least, 1000000))->type_name("N")->capture_default_str()->group(group);
  };
  add_count("--repeat", o.repeat, 1, "Encode this many times, and print the median and spread of the speed");
  add_count("--warmup", o.warmup, 0, "Encode this many times first, without measuring");
  add_file_option(app, "--recon", o.reconstruction,
                  "Write the pictures that a decoder will show (Y4M if the name ends in .y4m, else raw)", group);
  add_file_option(app, "--pred", o.prediction,
                  "Write the motion-compensated prediction (Y4M if the name ends in .y4m, else raw)", group);
  add_file_option(app, "--csv", o.csv, "Write a CSV row per frame: bits, PSNR, SSIM, stage times", group);
  add_file_option(app, "--stats-yuview", o.yuview, "Write vectors, SADs and bits of every luma block, for YUView", group);
  add_file_option(app, "--trace", o.trace, "Write a trace of the run, as JSON for Perfetto or Chrome's about:tracing",
                  group);
}

/// Replaces the option --me of the table by one that takes not only a method's name, but also a file with a search.
void add_search_option(CLI::App& app, EncodeOptions& o) {
  app.remove_option(app.get_option("--me"));
  std::vector<std::string> methods;
  for (const SearchMethod method : all_search_methods()) methods.emplace_back(name(method));
  const auto take = [&o](const std::string& text) {
    const auto method = search_method_from(text);
    o.search_file = method ? "" : text;
    if (method) o.encoder.coding.method = *method;
  };
  describe_by_table(app.add_option_function<std::string>("--me", take)
                        ->check(CLI::IsMember(methods) | file_with(race::kHostSearchFiles))
                        ->default_str(std::string(name(o.encoder.coding.method))),
                    "me");
}

/// If --me or --me-kernel names a file, loads the search from it, and chooses the device that can use it.
void load_own_search(EncodeOptions& o) {
  const std::string kernel = o.backend.motion_kernel.value_or("");
  const auto choose = [&](const char* option, const char* device, const char* other) {
    if (std::ranges::count(o.backend.names, other) > 0) {
      throw Error(ErrorKind::usage, "C63-USAGE",
                  fmt::format("{} with a file searches only on {}: leave out --backend", option, device));
    }
    o.backend.names = {device};
  };
  if (!o.search_file.empty()) {
    if (o.backend.motion_kernel) {
      throw Error(ErrorKind::usage, "C63-USAGE",
                  "--me with a file searches on the CPU, and --me-kernel on the GPU: give only one of them");
    }
    choose("--me", "cpu", "cuda");
    o.encoder.coding.own_search = race::own_host_search(o.search_file);
  } else if (has_extension(kernel, race::kGpuSearchFiles)) {
    if (o.compare_cpu) {
      throw Error(ErrorKind::usage, "C63-USAGE",
                  "--compare-cpu cannot be used with --me-kernel and a file, because the CPU cannot run that search");
    }
    choose("--me-kernel", "cuda", "cpu");
    o.backend.motion_kernel.reset();
    o.encoder.coding.own_search = race::own_gpu_search(kernel);
  }
}

}  // namespace

void add_plan_option(CLI::App& app, std::string& path) {
  add_file_option(app, "--segment-plan", path,
                  "File with the places where segments begin; read if it exists, else written. It saves a pass over "
                  "the input, which --scenecut and container files need",
                  "Segments");
}

void add_coding_run_options(CLI::App& app, EncodeOptions& options) {
  add_input_options(app, options);
  add_table_options(app, options.encoder, {"Coding"});
  add_search_option(app, options);
  add_table_options(app, options.encoder, {"Decisions"});
  app.get_option("--merange")->each([&options](const std::string&) { options.has_range = true; })->default_str("");
  add_target_options(app, options.target);
  add_machine_options(app, options);
  add_quality_options(app, options);
}

void add_options(CLI::App& app, EncodeOptions& options) {
  add_coding_run_options(app, options);
  add_segment_options(app, options);
  app.add_flag("--list-devices", options.list_devices, "List the CPU and the GPUs that can encode, and exit")
      ->configurable(false)
      ->group("Machine");
  add_measurement_options(app, options);
}

void settle_options(EncodeOptions& o, int threads) {
  if (o.source.path.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no input file was given");
  if (o.output.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no output file was given");
  if (o.width.has_value() != o.height.has_value()) {
    throw Error(ErrorKind::usage, "C63-USAGE", "width and height go together: give both -w and -h");
  }
  if (o.width && (*o.width <= 0 || *o.height <= 0)) {
    throw Error(ErrorKind::usage, "C63-SIZE-ZERO",
                fmt::format("picture size {}x{}: both sides must be positive", *o.width, *o.height));
  }
  check_sidecar(o.sidecar, o.output);
  if (!o.has_range) o.encoder.coding.search_range = search_range_of(o.encoder.coding.preset);
  o.source.width = o.width.value_or(0);
  o.source.height = o.height.value_or(0);
  o.source.limits = o.encoder.execution.limits;
  o.encoder.execution.threads = threads;
  load_own_search(o);
}

ordered_json settings_of_record(const EncodeOptions& o) {
  const CodingSettings& coding = o.encoder.coding;
  ordered_json json = {
      {"version", version() + " " + revision()}, {"width", coding.width}, {"height", coding.height}, {"preset", nullptr}};
  for_each_option(o.encoder, [&](const OptionInfo& option, const auto& value) {
    if (option.changes_bytes()) json[std::string(option.name)] = option_json(value);
  });
  // All exhaustive search methods give the same bytes, so the record has the name "full" for each of them.
  if (is_exhaustive(coding.method)) json["me"] = name(SearchMethod::full);
  if (coding.own_search != nullptr) json["me"] = own_search_json(*coding.own_search);
  json.update({{"seek", o.first_frame},
               {"frames", o.max_frames},
               {"prefilter", o.prefilter ? ordered_json(name(*o.prefilter)) : ordered_json(nullptr)},
               {"input-format", name_of(o.source.format)},
               {"tolerant", o.source.tolerant}});
  return json;
}

}  // namespace c63::tools
