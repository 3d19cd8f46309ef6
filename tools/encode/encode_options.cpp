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
#include "c63/version.h"
#include "common/command_line.h"
#include "common/sidecar.h"
#include "common/values.h"
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
      ->group(group);
  app.add_option("-o,--output,output", o.output, "Stream to write; - is stdout")->type_name("FILE")->group(group);
  auto* width = app.add_option("-w,--width", o.width, "Width of raw input")->type_name("PIXELS")->group(group);
  auto* height = app.add_option("-h,--height", o.height, "Height of raw input")->type_name("PIXELS")->group(group);
  app.add_option_function<std::string>(
         "--input-res",
         [&o](const std::string& text) {
           const auto size = size_from(text);
           if (!size) throw CLI::ValidationError("--input-res", "\"" + text + "\" is no size like 352x288");
           o.width = size->first;
           o.height = size->second;
         },
         "Size of raw input, such as 352x288")
      ->type_name("WxH")
      ->excludes(width)
      ->excludes(height)
      ->group(group);
  add_frame_rate_option(app, "Frames per second; without it the input's own, or 25", [&o](FrameRate rate) {
    o.source.rate = rate;
  })->group(group);
  app.add_option("-f,--frames", o.max_frames, "Encode no more frames than this; 0: all")
      ->check(whole_number())
      ->type_name("N")
      ->group(group);
  app.add_option("--seek", o.first_frame, "Skip that many frames of the input")
      ->check(whole_number())
      ->type_name("N")
      ->group(group);
  app.add_option_function<std::string>(
         "--input-format", [&o](const std::string& text) { o.source.format = kSourceFormats.at(text); },
         "What the input is: auto, raw, y4m or av (FFmpeg)")
      ->check(CLI::IsMember(kSourceFormats))
      ->type_name("FORMAT")
      ->default_str("auto")
      ->group(group);
  app.add_option_function<std::string>(
         "--prefilter", [&o](const std::string& text) { o.prefilter = prefilter_from(text); },
         "Smooth frames first: mean:K (odd, to 31), gauss:S (deviation, to 5) or temporal:N (frames, to 64); PSNR is "
         "then against the smoothed frames")
      ->type_name("NAME")
      ->group(group);
  app.add_flag(
         "--tolerant", o.source.tolerant,
         "Skip what is damaged in a video that FFmpeg reads, with a warning that counts it, instead of ending there")
      ->group(group);
  app.add_flag("--strict", o.source.strict, "A partial last frame is an error instead of a warning")->group(group);
}

/// "3/16"
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
        "--segment", fmt::format("\"{}\" is none like 3/16, from 1/N to N/N, N at most {}", text, kMostSegments));
  }
  return {number, of};
}

void add_segment_options(CLI::App& app, EncodeOptions& o) {
  const std::string group = "Segments";
  app.add_option_function<std::string>(
         "--segment", [&o](const std::string& text) { o.segment = segment_from(text); },
         "Encode number I of N runs of whole groups of pictures, with a record beside it; c63join joins them. One that "
         "is "
         "there already is not coded again")
      ->type_name("I/N")
      ->group(group);
  app.add_option(
         "--segment-plan", o.segment_plan,
         "Where segments begin, for what takes a pass over the whole input (--scenecut, containers): read from this "
         "file, or found and written to it")
      ->type_name("FILE")
      ->group(group);
}

void add_coding_options(CLI::App& app, EncodeOptions& o) {
  EncoderSettings& s = o.encoder;
  const std::string group = "Coding";
  app.add_option("-q,--qp", s.coding.qp,
                 "Quality, 5 to 50 (1 to 50 with flat tables), higher is better; fractions count. It sets the step of "
                 "quantization and the worth of a bit. So the PSNR at a quality depends on the video and on the preset; "
                 "--target-psnr sets the PSNR")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--frame-interval", s.coding.frame_interval,
                 "Code every Nth frame of a group of pictures; the others repeat the picture before them")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--keyint", s.coding.key_interval, "A key frame every that many frames; with --scenecut at least")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--scenecut,!--no-scenecut", s.coding.scene_cuts,
               "Key frames at scene cuts too, told by luma histograms")
      ->group(group);
  app.add_option_function<int>(
         "--merange", [&o](int range) { o.search_range = range; },
         "Search range for luma vectors, 1 to 127, half of it for chroma; 32 with preset best")
      ->type_name("N")
      ->default_str(std::to_string(s.coding.search_range))
      ->group(group);
  app.add_option_function<std::string>(
         "--me", [&s](const std::string& text) { s.coding.method = search_method_from(text).value(); },
         "How vectors are searched")
      ->check(CLI::IsMember(search_method_names()))
      ->type_name("METHOD")
      ->default_str(std::string(name(s.coding.method)))
      ->group(group);
}

constexpr const char* kDecisions = "Decisions";

/// Adds a flag with its opposite; the value is not set where neither is given.
void add_decision_flag(CLI::App& app, const std::string& name, std::optional<bool>& value, const std::string& text) {
  app.add_flag_function(
         "--" + name + ",!--no-" + name, [&value](std::int64_t count) { value = count > 0; }, text)
      ->group(kDecisions);
}

void add_decision_options(CLI::App& app, CodingSettings& s) {
  const std::string group = kDecisions;
  app.add_option_function<std::string>(
         "--preset", [&s](const std::string& text) { s.preset = preset_from(text).value(); },
         "A named set of decisions: reference (the course encoder's, the default), fast (about half the bits), good "
         "(fewer still) or best (slower); the options below are its unless they are given")
      ->check(CLI::IsMember(preset_names()))
      ->type_name("NAME")
      ->default_str(std::string(name(s.preset)))
      ->group(group);
  static const std::map<std::string, TableShape> kTables = {{"course", TableShape::course}, {"flat", TableShape::flat}};
  app.add_option_function<std::string>(
         "--tables", [&s](const std::string& text) { s.rate.tables = kTables.at(text); },
         "Quantization tables: course, or flat, one step for all coefficients")
      ->check(CLI::IsMember(kTables))
      ->type_name("SHAPE")
      ->group(group);
  static const std::map<std::string, HeaderSet> kHeaders = {{"full", HeaderSet::full}, {"compact", HeaderSet::compact}};
  app.add_option_function<std::string>(
         "--headers", [&s](const std::string& text) { s.rate.headers = kHeaders.at(text); },
         "Headers of frames: full, or compact, what a decoder has to be told")
      ->check(CLI::IsMember(kHeaders))
      ->type_name("SET")
      ->group(group);
  add_decision_flag(app, "rdoq", s.rate.choose_levels, "Choose the levels of coefficients by their bits");
  app.add_option("--candidates", s.rate.candidates,
                 "Vectors of the search that are tried in each block, with those around it; 0 to 7")
      ->type_name("N")
      ->group(group);
  app.add_option("--beam", s.rate.beam, "Ways to code a row that are kept, 1 to 8")->type_name("N")->group(group);
  add_decision_flag(app, "unpredicted", s.rate.unpredicted, "Blocks may do without prediction");
  add_decision_flag(app, "repeats", s.rate.repeats, "Frames may repeat the picture before them");
  add_decision_flag(app, "adaptive-reference", s.rate.adaptive_reference,
                    "Frames may be predicted from the picture that the frame before was predicted from, where looking ahead "
                    "says that it pays; without this, good does so by what frames before took");
  add_decision_flag(app, "temporal-filter", s.rate.temporal_filter,
                    "Frames are averaged with those around them, along motion, before they are coded; PSNR is against "
                    "the frames as they were");
  add_decision_flag(app, "propagated-weights", s.rate.propagated_weights,
                    "Error counts more where frames to come are predicted from it");
  app.add_option("--chroma-lambda", s.rate.chroma_lambda,
                 "What a bit of chroma is worth, in bits of luma; 0.25 to 4, in quarters of an octave")
      ->type_name("X")
      ->group(group);
  static const std::map<std::string, Tune> kTunes = {{"psnr", Tune::psnr}, {"ssim", Tune::ssim}};
  app.add_option_function<std::string>(
         "--tune", [&s](const std::string& text) { s.rate.tune = kTunes.at(text); },
         "What decisions are best by: psnr, or ssim, for which errors count less in lively places")
      ->check(CLI::IsMember(kTunes))
      ->type_name("MEASURE")
      ->default_str(std::string(name(s.rate.tune)))
      ->group(group);
  app.add_option("--lambda-scale", s.rate.lambda_scale,
                 "What a bit is worth; more: fewer bits, worse pictures; 0.05 to 4")
      ->type_name("X")
      ->capture_default_str()
      ->group(group);
}

void add_machine_options(CLI::App& app, EncodeOptions& o) {
  add_backend_options(app, o.backend);
  app.add_option("--lanes", o.encoder.execution.lanes, "Groups of pictures encoded at the same time; 0: chosen")
      ->check(CLI::Range(0, 4096))
      ->type_name("N")
      ->capture_default_str()
      ->group("Machine");
  add_simd_option(app, o.encoder.execution.simd);
  add_sync_option(app, o.durability);
  add_keep_partial_option(app, o.keep_partial);
  add_limit_options(app, o.encoder.execution.limits);
}

constexpr const char* kMeasurement = "Measurement";

void add_quality_options(CLI::App& app, EncodeOptions& o) {
  const std::string group = kMeasurement;
  app.add_flag("--psnr,!--no-psnr", o.encoder.measurement.psnr, "Measure PSNR (on by default)")->group(group);
  app.add_flag("--ssim,!--no-ssim", o.encoder.measurement.ssim, "Measure SSIM")->group(group);
  app.add_option("--json", o.json, "Write settings, machine and results")->type_name("FILE")->group(group);
  app.add_flag("--sidecar", o.sidecar, "Write the same beside the output, as OUTPUT.json: programs find the frame rate there")->group(group);
}

void add_measurement_options(CLI::App& app, EncodeOptions& o) {
  const std::string group = kMeasurement;
  app.add_flag("--global-motion", o.encoder.measurement.global_motion,
               "Measure by how much each frame is shifted against the one before, up to about half a sample")
      ->group(group);
  app.add_flag("--verify", o.verify, "Decode every frame and compare it with the encoder's reconstruction")
      ->group(group);
  app.add_flag("--compare-cpu", o.compare_cpu, "Encode on the CPU too; print both times and whether the bytes agree")
      ->group(group);
  app.add_flag(
         "--bits", o.count_bits,
         "Count bits by kind: headers, flags, vectors, DC, AC, ends of blocks; -v does too. In CSV and JSON as well")
      ->group(group);
  app.add_flag("--timing", o.timing, "Print what each stage took")->group(group);
  app.add_option("--repeat", o.repeat, "Encode that many times; print median and spread")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--warmup", o.warmup, "Encode that many times before, unmeasured")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--recon", o.reconstruction, "Write what a decoder will show (.y4m by name, else raw)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--pred", o.prediction, "Write the motion-compensated prediction (.y4m by name, else raw)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--csv", o.csv, "Write a row per frame: bits, PSNR, SSIM, stage times")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--stats-yuview", o.yuview, "Write vectors, SADs and bits of every luma block, for YUView")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--trace", o.trace, "Write what ran when, as JSON for Perfetto or Chrome's about:tracing")
      ->type_name("FILE")
      ->group(group);
}

}  // namespace

void add_coding_run_options(CLI::App& app, EncodeOptions& options) {
  add_input_options(app, options);
  add_coding_options(app, options);
  add_decision_options(app, options.encoder.coding);
  add_target_options(app, options.target);
  add_machine_options(app, options);
  add_quality_options(app, options);
}

void add_options(CLI::App& app, EncodeOptions& options) {
  add_coding_run_options(app, options);
  add_segment_options(app, options);
  app.add_flag("--list-devices", options.list_devices, "Print what can be encoded on and exit")
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
  o.encoder.coding.search_range = o.search_range.value_or(search_range_of(o.encoder.coding.preset));
  o.source.width = o.width.value_or(0);
  o.source.height = o.height.value_or(0);
  o.source.limits = o.encoder.execution.limits;
  o.encoder.execution.threads = threads;
}

ordered_json settings_of_record(const EncodeOptions& o) {
  // Names all fields, so that a new one is thought of here.
  const auto& [width, height, preset, qp, key_interval, frame_interval, scene_cuts, search_range, method, rate] = o.encoder.coding;
  const auto& [tables, headers, choose_levels, candidates, beam, unpredicted, repeats, adaptive_reference,
               temporal_filter, propagated_weights, chroma_lambda, tune, lambda_scale] = rate;
  const auto or_null = [](const auto& value) { return value ? ordered_json(*value) : ordered_json(nullptr); };
  const auto number_of = [](const auto& choice) {
    return choice ? ordered_json(static_cast<int>(*choice)) : ordered_json(nullptr);
  };
  return {{"version", version() + " " + revision()},
          {"width", width},
          {"height", height},
          {"preset", name(preset)},
          {"qp", qp},
          {"keyint", key_interval},
          {"frame-interval", frame_interval},
          {"scenecut", scene_cuts},
          {"merange", search_range},
          // Exhaustive methods differ in time only.
          {"me", is_exhaustive(method) ? "full" : name(method)},
          {"tables", number_of(tables)},
          {"headers", number_of(headers)},
          {"rdoq", or_null(choose_levels)},
          {"candidates", or_null(candidates)},
          {"beam", or_null(beam)},
          {"unpredicted", or_null(unpredicted)},
          {"repeats", or_null(repeats)},
          {"adaptive-reference", or_null(adaptive_reference)},
          {"temporal-filter", number_of(temporal_filter)},
          {"propagated-weights", number_of(propagated_weights)},
          {"chroma-lambda", or_null(chroma_lambda)},
          {"tune", name(tune)},
          {"lambda-scale", lambda_scale},
          {"seek", o.first_frame},
          {"frames", o.max_frames},
          {"prefilter", o.prefilter ? ordered_json(name(*o.prefilter)) : ordered_json(nullptr)},
          {"input-format", name_of(o.source.format)},
          {"tolerant", o.source.tolerant}};
}

}  // namespace c63::tools
