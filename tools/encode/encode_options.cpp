#include "encode/encode_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "c63/error.h"
#include "c63/own_search.h"
#include "c63/version.h"
#include "common/command_line.h"
#include "common/options.h"
#include "common/report.h"
#include "common/values.h"
#include "race/own_search.h"
#include "segments/segment_record.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

std::vector<std::string> source_format_names() {
  std::vector<std::string> names;
  for (const SourceFormat format : all_source_formats()) names.emplace_back(name(format));
  return names;
}

void add_input_options(CLI::App& app, EncodeOptions& o) {
  const OptionGroup group(app, "Input and output");
  group.add_daily("-i,--input,input", o.source.path, "FILE",
                  "Video to encode: raw YUV 4:2:0, Y4M, or anything FFmpeg decodes; - is stdin");
  group.add_daily("-o,--output,output", o.output, "FILE", "Stream to write; - is stdout");
  auto* width = group.add_daily("-w,--width", o.width, "PIXELS", "Width of raw input");
  auto* height = group.add_daily("-h,--height", o.height, "PIXELS", "Height of raw input");
  group
      .add(
          "--input-res",
          [&o](const std::string& text) {
            const auto size = size_from(text);
            if (!size) throw CLI::ValidationError("--input-res", "\"" + text + "\" is not a size like 352x288");
            o.width = size->first;
            o.height = size->second;
          },
          "WxH", "Size of raw input, such as 352x288")
      ->excludes(width)
      ->excludes(height);
  group.add("--fps", parsed_rate(o.source.rate), "RATE", std::string(option_info("fps").help));
  group.add_daily("-f,--frames", o.max_frames, "N", "Encode no more frames than this; 0: all")->check(whole_number());
  group.add("--seek", o.first_frame, "N", "Skip this many frames at the start of the input")->check(whole_number());
  group
      .add(
          "--input-format", [&o](const std::string& text) { o.source.format = source_format_from(text).value(); }, "FORMAT",
          "What the input is: auto, raw, y4m, or av (FFmpeg)")
      ->check(CLI::IsMember(source_format_names()))
      ->default_str("auto");
  group.add(
      "--prefilter", [&o](const std::string& text) { o.prefilter = prefilter_from(text); }, "NAME",
      "Smooth the frames before coding: mean:K (KxK samples, K odd, at most 31), gauss:S (standard deviation, at most "
      "5) or temporal:N (mean of N frames, 2 to 64). PSNR then compares with the smoothed frames");
  group.flag("--tolerant", o.source.tolerant,
             "If a video that FFmpeg reads is damaged, skip the damaged parts and warn how many there are, instead of "
             "ending there");
  group.flag("--strict", o.source.strict, "Treat a partial last frame as an error instead of a warning");
}

/// Reads --segment, such as "3/16".
std::pair<int, int> segment_from(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto of = slash == std::string::npos ? std::nullopt : parse<int>(std::string_view(text).substr(slash + 1), 1, kMostSegments);
  const auto number = of ? parse<int>(std::string_view(text).substr(0, slash), 1, *of) : std::nullopt;
  if (!number) {
    throw CLI::ValidationError(
        "--segment", fmt::format("\"{}\" is not a segment like 3/16: 1/N to N/N, N at most {}", text, kMostSegments));
  }
  return {*number, *of};
}

void add_segment_options(CLI::App& app, EncodeOptions& o) {
  const OptionGroup group(app, "Segments");
  group.add(
      "--segment", [&o](const std::string& text) { o.segment = segment_from(text); }, "I/N",
      "Encode only part I of N, and write a record file next to it. c63join joins the parts. A part that exists "
      "already is not encoded again");
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
  const OptionGroup group(app, kMeasurement);
  add_table_options(app, o.encoder, {"psnr", "ssim"});
  group.add("--json", o.json, "FILE", "Write settings, machine and results as JSON");
}

void add_measurement_options(CLI::App& app, EncodeOptions& o) {
  const OptionGroup group(app, kMeasurement);
  group.flag("--verify", o.verify, "Decode every frame and compare it with the encoder's reconstruction");
  group.flag("--compare-cpu", o.compare_cpu, "Encode on the CPU, too; print both times and whether the bytes agree");
  group.flag("--bits", o.count_bits,
             "Count bits by kind (headers, flags, vectors, DC, AC, ends of blocks), also in CSV and JSON files; -v "
             "includes this");
  group.flag("--timing", o.timing, "Print the time of each stage");
  group.add("--recon", o.reconstruction, "FILE",
            "Write the pictures that a decoder will show (Y4M if the name ends in .y4m, else raw)");
  group.add("--pred", o.prediction, "FILE",
            "Write the motion-compensated prediction (Y4M if the name ends in .y4m, else raw)");
  group.add("--csv", o.csv, "FILE", "Write a CSV row per frame: bits, PSNR, SSIM, stage times");
  group.add("--stats-yuview", o.yuview, "FILE", "Write vectors, SADs and bits of every luma block, for YUView");
  group.add("--trace", o.trace, "FILE", "Write a trace of the run, as JSON for Perfetto or Chrome's about:tracing");
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
  } else if (!kernel.empty() && kernel != "automatic" && decides_by_rate(o.encoder.coding)) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                fmt::format("--me-kernel {} would have no effect: if anything is decided by rate, as with preset fast, the search "
                            "counts the bits of vectors, and has only one kernel",
                            kernel));
  }
}

}  // namespace

void add_plan_option(CLI::App& app, std::string& path) {
  OptionGroup(app, "Segments")
      .add("--segment-plan", path, "FILE",
           "File with the places where segments begin; read if it exists, else written. With --scenecut, or with a "
           "container file as input, this saves each segment a reading of the whole input");
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
  OptionGroup(app, "Machine")
      .flag("--list-devices", options.list_devices, "List the CPU and the GPUs that can encode, and exit")
      ->configurable(false);
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
               {"input-format", name(o.source.format)},
               {"tolerant", o.source.tolerant}});
  return json;
}

}  // namespace c63::tools
