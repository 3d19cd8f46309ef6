#include "filter/filter_options.h"

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <array>
#include <map>

#include "common/command_line.h"
#include "common/values.h"
#include "common/video_input.h"

namespace c63::tools {
namespace {

std::map<std::string, SignalFormat> format_names() {
  std::map<std::string, SignalFormat> names;
  for (const SignalFormat format : all_signal_formats()) names.emplace(name(format), format);
  return names;
}

/// Accepts the names in `values` and converts each to its value. The help lists only the names.
template <typename Value>
CLI::Validator one_of(const std::map<std::string, Value>& values) {
  std::string names;
  for (const auto& [name, value] : values) names += (names.empty() ? "" : ",") + name;
  return CLI::CheckedTransformer(values, CLI::ignore_case).description("{" + names + "}");
}

CLI::App* add_command(CLI::App& app, FilterOptions& o, FilterCommand command, const std::string& name,
                      const std::string& description, const std::string& output, bool output_required) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->fallthrough();
  sub->add_option("input", o.input, "Signal or video to read; - is standard input")->required()->type_name("FILE");
  auto* out = sub->add_option("output", o.output, output)->type_name("FILE");
  if (output_required) out->required();
  sub->callback([&o, command] { o.command = command; });
  return sub;
}

void add_input_options(CLI::App& app, FilterOptions& o) {
  const std::string group = "Input and output";
  const auto formats = format_names();
  const auto add_format = [&](const std::string& option, SignalFormat& format, const std::string& what) {
    app.add_option(option, format, what)
        ->transform(one_of(formats))
        ->type_name("NAME")
        ->group(group);
  };
  add_format(
      "--format", o.input_format,
      "Format of the input signal: text, npy, or raw f64 f32 i32 u32 u8 (little-endian); without it by the name");
  add_format("--output-format", o.output_format, "The same for the output signal");
  app.add_flag_callback("--video", [&o] { o.video = true; }, "The input is video, whatever its name")->group(group);
  app.add_flag_callback("--signal", [&o] { o.video = false; }, "The input is a signal, whatever its name")->group(group);
  app.add_option_function<std::string>(
         "--input-res",
         [&o](const std::string& text) {
           const auto size = size_from(text);
           if (!size) throw CLI::ValidationError("--input-res", "'" + text + "' is not a size such as 352x288");
           o.source.width = size->first;
           o.source.height = size->second;
         },
         "Size of raw video")
      ->type_name("WxH")
      ->group(group);
}

void add_device_options(CLI::App& app, FilterOptions& o) {
  const std::string group = "Device";
  app.add_option("--backend", o.backend, "Where to filter: auto uses a GPU if there is one")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--device", o.device, "GPU to filter on, by number; without it the first")->type_name("N")->group(group);
  app.add_option("--variant", o.variant,
                 "Form of the filter: serial or fast on the CPU; on a GPU a wrong name lists all forms")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--compare", o.compare,
               "Run the serial form on the CPU too: times with and without transfers, speed-up, largest difference")
      ->group(group);
}

}  // namespace

void add_options(CLI::App& app, FilterOptions& o) {
  app.require_subcommand(0, 1);  // run() reports a missing one, because --describe-options needs none
  add_input_options(app, o);
  add_device_options(app, o);
  add_sync_option(app, o.durability);
  add_keep_partial_option(app, o.keep_partial);
  add_limit_options(app, o.source.limits);

  CLI::App* mean = add_command(app, o, FilterCommand::mean, "mean", "Moving mean of a signal, or of each picture",
                               "Filtered signal or video; - is standard output", true);
  mean->add_option("--width", o.width, "How many samples: odd")->type_name("K")->capture_default_str();

  CLI::App* convolve = add_command(app, o, FilterCommand::convolve, "convolve", "Convolution, zero outside",
                                   "Filtered signal or video; - is standard output", true);
  convolve->add_option("--kernel,--taps", o.kernel,
                       "For a signal its taps, an odd number of them: 1,2,1, or mean:K; for video mean:K (odd, to 31) or "
                       "gauss:S (deviation, to 5)")
      ->type_name("KERNEL");

  CLI::App* histogram = add_command(app, o, FilterCommand::histogram, "histogram",
                                    "Count each value 0..255; of video: in the luma of all frames",
                                    "Counts, one a line (default: standard output)", false);
  histogram->add_option("--bins", o.bins, "Equal bins")->check(CLI::Range(1, 256))->type_name("N")->capture_default_str();
  histogram->add_option("--map", o.map, "A signal of 256 values: the bin of each byte")->type_name("FILE");

  CLI::App* reduce = add_command(app, o, FilterCommand::reduce, "reduce",
                                 "Sum, smallest or largest value or its place; of video: of all luma",
                                 "The value (default: standard output)", false);
  reduce->add_option("--op", o.reduction, "sum, min, max, argmin or argmax")
      ->transform(one_of<ReductionKind>({{"sum", ReductionKind::sum},
                                         {"min", ReductionKind::minimum},
                                         {"max", ReductionKind::maximum},
                                         {"argmin", ReductionKind::argmin},
                                         {"argmax", ReductionKind::argmax}}))
      ->type_name("NAME");

  CLI::App* scan = add_command(app, o, FilterCommand::scan, "scan", "Running sums of a signal",
                               "Running sums; - is standard output", true);
  scan->add_flag("--exclusive", o.exclusive, "Sums of what comes before each value, without it");

  CLI::App* shift =
      add_command(app, o, FilterCommand::shift, "shift", "Shift of every frame against one, finer than a sample",
                  "CSV of frame, dx, dy (default: standard output)", false);
  shift->add_option("--reference", o.reference, "The frame that the others are compared with")
      ->check(whole_number())
      ->type_name("N")
      ->capture_default_str();

  CLI::App* whiten =
      add_command(app, o, FilterCommand::whiten, "whiten",
                  "Remove the background of video: each frame minus what its history predicts",
                  "Video of the difference (grey is zero), from the first frame with a whole history on", true);
  WhiteningSettings& w = o.whitening;
  whiten->add_option("--memory", w.memory, "History frames")->type_name("N")->capture_default_str();
  whiten->add_option("--method", w.method, "Weights from the frames' shifts, or from their correlations")
      ->transform(one_of<WhiteningMethod>({{"shift", WhiteningMethod::shift}, {"correlation", WhiteningMethod::correlation}}))
      ->type_name("NAME");
  whiten->add_option("--degree", w.degree, "Degree of the polynomials in the shift")->type_name("N")->capture_default_str();
  whiten->add_option("--epsilon", w.epsilon, "Regularization, as a share of the matrix's mean diagonal")
      ->type_name("E")
      ->capture_default_str();
  whiten
      ->add_option(
          "--reject", w.reject,
          "Replace history samples that differ from their median over time by more than this many robust deviations")
      ->type_name("K");
  whiten->add_option("--gain", o.gain, "Grey levels of the output for a difference of one")
      ->type_name("G")
      ->capture_default_str();
  whiten
      ->add_option("--truth", o.truth,
                   "File of c63gen --pattern stars --truth: prints the object's signal-to-noise ratio before and after")
      ->type_name("FILE");
  whiten->add_option("--before", o.before, "Picture of the last frame, unchanged: .png or .ppm")->type_name("FILE");
  whiten->add_option("--after", o.after, "Picture of the last frame whitened")->type_name("FILE");
}

bool is_video(const FilterOptions& o) {
  if (o.video) return *o.video;
  if (o.command == FilterCommand::shift || o.command == FilterCommand::whiten) return true;
  if (o.input == "-" || o.input_format != SignalFormat::automatic) return false;
  if (is_stream_file(o.input)) return true;
  if (signal_format_of(o.input) != SignalFormat::text) return false;
  constexpr std::array kText = {".txt", ".csv", ".dat", ".tsv", ".asc", ".text"};
  return !std::ranges::any_of(kText, [&](const char* suffix) { return o.input.ends_with(suffix); }) &&
         o.input.find('.') != std::string::npos;
}

}  // namespace c63::tools
