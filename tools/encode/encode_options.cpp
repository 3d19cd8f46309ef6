#include "encode/encode_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>

#include "c63/error.h"
#include "c63/user_search.h"
#include "c63/version.h"
#include "common/command_line.h"
#include "common/json.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/values.h"
#include "common/video_input.h"
#include "encode/encode_target.h"
#include "race/user_search.h"
#include "segments/segment_record.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSegmentExample = "3/16 (1/N to N/N, N at most 1000000)";

/// Reads --segment, such as "3/16".
std::optional<std::pair<int, int>> segment_from(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto of = slash == std::string::npos ? std::nullopt : parse<int>(std::string_view(text).substr(slash + 1), 1, kMostSegments);
  const auto number = of ? parse<int>(std::string_view(text).substr(0, slash), 1, *of) : std::nullopt;
  return number ? std::optional(std::pair(*number, *of)) : std::nullopt;
}

void add_input_options(CLI::App& app, EncodeOptions& o) {
  const auto resolution = [&o](const std::string& text) {
    const auto size = size_from(text);
    if (size) std::tie(o.width, o.height) = *size;
    return size.has_value();
  };
  add_options(
      app, "Input and output",
      {{"-i,--input,input", &o.source.path, "FILE",
        "Video to encode: raw YUV 4:2:0, Y4M, or anything FFmpeg decodes; - is stdin", {.daily = true}},
       {"-o,--output", &o.output, "FILE", "Stream to write; - is stdout", {.daily = true}},
       {"output", &o.second_name, "FILE", "The same without -o, as in the course; an existing file must be a c63 stream then"},
       {"-w,--width", &o.width, "PIXELS", "Width of raw input", {.daily = true}},
       {"-h,--height", &o.height, "PIXELS", "Height of raw input", {.daily = true}},
       {"--input-res", resolution, "WxH", "Size of raw input, such as 352x288",
        {.example = "352x288", .excludes = {"--width", "--height"}}},
       {"fps", into(o.source.rate, frame_rate_from)},
       {"-f,--frames", &o.max_frames, "N", "Encode no more frames than this; 0: all", {.daily = true, .least = 0}},
       {"--seek", &o.first_frame, "N", "Skip this many frames at the start of the input", {.least = 0}},
       {"--input-format", choice(o.source.format, values_of<SourceFormat>()), "FORMAT",
        "What the input is: auto, raw, y4m, or av (FFmpeg)"},
       {"--prefilter", into(o.prefilter, [](const std::string& text) { return std::optional(prefilter_from(text)); }), "NAME",
        "Smooth the frames before coding: mean:K (KxK samples, K odd, at most 31), gauss:S (standard deviation, at most "
        "5) or temporal:N (mean of N frames, 2 to 64). PSNR then compares with the smoothed frames"},
       {"--tolerant", &o.source.tolerant, "",
        "If a video that FFmpeg reads is damaged, skip the damaged parts and warn how many there are, instead of "
        "ending there"},
       {"--strict", &o.source.strict, "", "Treat a partial last frame as an error instead of a warning"}});
}

void add_machine_options(CLI::App& app, EncodeOptions& o) {
  add_backend_options(app, o.backend);
  add_table_options(app, o.encoder, {"lanes"}, {{"lanes", &o.encoder.execution.lanes, "", "", {.least = 0, .most = 4096}}});
  add_simd_option(app, o.encoder.execution.simd);
  add_output_options(app, o.durability, &o.keep_partial);
  add_limit_options(app, o.encoder.execution.limits);
}

constexpr const char* kMeasurement = "Measurement";

/// Adds the table's options of coding. --me takes not only a method's name, but also a file with a search.
void add_coding_options(CLI::App& app, EncodeOptions& o) {
  std::vector<std::string> methods;
  for (const SearchMethod method : values_of<SearchMethod>()) methods.emplace_back(name(method));
  const auto take_search = [&o](const std::string& text) {
    const auto method = enum_from<SearchMethod>(text);
    o.search_file = method ? "" : text;
    if (method) o.encoder.coding.method = *method;
    return method || has_extension(text, race::kHostSearchFiles);
  };
  add_table_options(app, o.encoder, {"Coding", "Decisions"},
                    {{"me", take_search, "", "",
                      {.choices = methods, .extensions = race::kHostSearchFiles, .standard = std::string(name(o.encoder.coding.method))}},
                     {"merange", &o.range}});
}

/// If --me or --me-kernel names a file, loads the search from it, and chooses the device that can use it.
void load_user_search(EncodeOptions& o) {
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
    o.encoder.coding.user_search = race::own_host_search(o.search_file);
  } else if (has_extension(kernel, race::kGpuSearchFiles)) {
    if (o.compare_cpu) {
      throw Error(ErrorKind::usage, "C63-USAGE",
                  "--compare-cpu cannot be used with --me-kernel and a file, because the CPU cannot run that search");
    }
    choose("--me-kernel", "cuda", "cpu");
    o.backend.motion_kernel.reset();
    o.encoder.coding.user_search = race::own_gpu_search(kernel);
  } else if (!kernel.empty() && kernel != "automatic" && decides_by_rate(o.encoder.coding)) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                fmt::format("--me-kernel {} would have no effect: if anything is decided by rate, as with preset fast, the search "
                            "counts the bits of vectors, and has only one kernel",
                            kernel));
  }
}

/// Makes the second name without an option the output. Who thinks that it is another input must not lose a video.
void take_second_name(EncodeOptions& o) {
  if (o.second_name.empty()) return;
  if (!o.output.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "two output files were given: " + o.output + " and " + o.second_name);
  std::error_code fault;
  const bool holds_data = std::filesystem::is_regular_file(o.second_name, fault) && std::filesystem::file_size(o.second_name, fault) > 0;
  if (holds_data && !same_file(o.source.path, o.second_name) && !is_stream_file(o.second_name)) {
    throw Error(ErrorKind::usage, "C63-OUTPUT-OTHER",
                "it would be overwritten, but it is not a c63 stream; to replace it, type: -o " + o.second_name, {.file = o.second_name});
  }
  o.output = o.second_name;
}

}  // namespace

void add_coding_run_options(CLI::App& app, EncodeOptions& o) {
  add_input_options(app, o);
  add_coding_options(app, o);
  add_target_options(app, o.target);
  add_machine_options(app, o);
  add_table_options(app, o.encoder, {"psnr", "ssim"});
  add_options(app, kMeasurement, {{"--json", &o.json, "FILE", "Write settings, machine and results as JSON"}});
  add_options(app, "Segments",
              {{"--segment-plan", &o.segment_plan, "FILE",
                "File with the places where segments begin; read if it exists, else written. With --scenecut, or with a "
                "container file as input, only the first segment has to read the whole input"}});
}

void add_options(CLI::App& app, EncodeOptions& o) {
  add_coding_run_options(app, o);
  add_options(app, "Segments",
              {{"--segment", into(o.segment, segment_from), "I/N",
                "Encode only part I of N, and write a record file next to it. c63join joins the parts. A part that exists "
                "already is not encoded again",
                {.example = kSegmentExample}}});
  add_options(app, "Machine",
              {{"--hwaccel", &o.hwaccel, "NAME",
                "What decodes a film: none (the CPU), or cuda (a GPU, if it decodes this kind of film to the same pictures; not tested on a GPU yet)",
                {.choices = {"none", "cuda"}}},
               {"--list-devices", &o.list_devices, "", "List the CPU and the GPUs that can encode, and exit", {.in_config = false}}});
  add_options(
      app, kMeasurement,
      {{"--verify", &o.verify, "", "Decode every frame and compare it with the encoder's reconstruction"},
       {"--compare-cpu", &o.compare_cpu, "", "Encode on the CPU, too; print both times and whether the bytes agree"},
       {"--bits", &o.count_bits, "",
        "Count bits by kind (headers, flags, vectors, DC, AC, ends of blocks), also in CSV and JSON files; -v includes this"},
       {"--timing", &o.timing, "", "Print the time of each stage"},
       {"--recon", &o.reconstruction, "FILE", "Write the pictures that a decoder will show (Y4M if the name ends in .y4m, else raw)"},
       {"--pred", &o.prediction, "FILE", "Write the motion-compensated prediction (Y4M if the name ends in .y4m, else raw)"},
       {"--csv", &o.csv, "FILE", "Write a CSV row per frame: bits, PSNR, SSIM, stage times"},
       {"--stats-yuview", &o.yuview, "FILE", "Write vectors, SADs and bits of every luma block, for YUView"},
       {"--trace", &o.trace, "FILE", "Write a trace of the run, as JSON for Perfetto or Chrome's about:tracing"}});
}

void settle_options(EncodeOptions& o, int threads) {
  if (o.source.path.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no input file was given");
  take_second_name(o);
  if (o.output.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "no output file was given");
  if (o.width.has_value() != o.height.has_value()) {
    throw Error(ErrorKind::usage, "C63-USAGE", "width and height go together: give both -w and -h");
  }
  if (o.width && (*o.width <= 0 || *o.height <= 0)) {
    throw Error(ErrorKind::usage, "C63-SIZE-ZERO",
                fmt::format("picture size {}x{}: both sides must be positive", *o.width, *o.height));
  }
  o.encoder.coding.search_range = o.range.value_or(search_range_of(o.encoder.coding.preset));
  o.source.width = o.width.value_or(0);
  o.source.height = o.height.value_or(0);
  o.source.limits = o.encoder.execution.limits;
  o.encoder.execution.threads = threads;
  load_user_search(o);
}

void settle_encode(EncodeOptions& o, const CommonSettings& common) {
  settle_options(o, common.threads);
  if (o.segment && o.output == "-") {
    throw Error(ErrorKind::usage, "C63-SEGMENT-OUTPUT",
                "--segment needs an output file, because it writes a record file next to it");
  }
  if (o.segment && o.target.target) {
    throw Error(ErrorKind::usage, "C63-SEGMENT-TARGET",
                "a target is for the whole video, but --segment encodes a part of it");
  }
  if (!o.segment && !o.segment_plan.empty()) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--segment-plan needs --segment");
  }
  if (o.source.path == "-" && o.compare_cpu) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                "--compare-cpu reads the input twice, but stdin can be read only once");
  }
  if (!o.target.target && (!o.target.stats.empty() || !o.target.spool.empty())) {
    throw Error(ErrorKind::usage, "C63-USAGE",
                "--stats and --spool need a target: --bitrate, --size, --target-psnr or --target-ssim");
  }
  if (o.target.target && o.target.spool.empty() && !can_be_read_again(o.source.path)) {
    throw Error(ErrorKind::usage, "C63-TARGET-INPUT",
                "a target needs several passes, but this input can be read only once: give a file, or a folder for a "
                "copy (--spool)",
                {.file = o.source.path == "-" ? "stdin" : o.source.path});
  }
  check_distinct_files({{"the input", o.source.path}},
                       {{"--output", o.output},
                        {"--recon", o.reconstruction},
                        {"--pred", o.prediction},
                        {"--csv", o.csv},
                        {"--json", o.json},
                        {"--stats-yuview", o.yuview},
                        {"--trace", o.trace},
                        {"--stats", o.target.stats},
                        {"--segment-plan", o.segment_plan},
                        {"the segment's record", o.segment ? record_path(o.output) : ""},
                        {"--log-file", common.log.file}});
  check_apart_from_log({"--output", o.output});
  check_no_container({"--output", o.output}, "a c63 stream has a name like video.c63");
  o.encoder.measurement.keep_reconstruction = o.verify || !o.reconstruction.empty();
  o.encoder.measurement.keep_prediction = !o.prediction.empty();
  o.encoder.measurement.keep_motion = !o.yuview.empty();
  if (o.target.target) {
    o.encoder.measurement.psnr = true;
    o.encoder.measurement.ssim = o.encoder.measurement.ssim || o.target.target->kind == Target::Kind::ssim_y;
  }
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
  if (coding.user_search != nullptr) json["me"] = user_search_json(*coding.user_search);
  json.update({{"seek", o.first_frame},
               {"frames", o.max_frames},
               {"prefilter", o.prefilter ? ordered_json(name(*o.prefilter)) : ordered_json(nullptr)},
               {"input-format", name(o.source.format)},
               {"tolerant", o.source.tolerant}});
  return json;
}

}  // namespace c63::tools
