#include "filter/filter_run.h"

#include <map>

#include "common/command_line.h"
#include "common/options.h"
#include "common/values.h"

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
  const OptionGroup group(app, "Input and output");
  const auto formats = format_names();
  const auto add_format = [&](const std::string& option, SignalFormat& format, const std::string& what) {
    group.add(option, format, "NAME", what)->transform(one_of(formats));
  };
  add_format("--format", o.input_format,
             "Format of the input signal: text, npy, or raw f64, f32, i32, u32, u8 (little-endian); auto decides by "
             "the file name");
  add_format("--output-format", o.output_format, "Format of the output signal, as for --format");
  app.add_flag_callback(
         "--video", [&o] { o.video = true; }, "Read the input as video, whatever its name is")
      ->group(group.name());
  app.add_flag_callback(
         "--signal", [&o] { o.video = false; }, "Read the input as a signal, whatever its name is")
      ->group(group.name());
  group.add(
      "--input-res",
      [&o](const std::string& text) {
        const auto size = size_from(text);
        if (!size) throw CLI::ValidationError("--input-res", "'" + text + "' is not a size such as 352x288");
        o.source.width = size->first;
        o.source.height = size->second;
      },
      "WxH", "Size of raw video, such as 352x288");
}

void add_device_options(CLI::App& app, FilterOptions& o) {
  const OptionGroup group(app, "Device");
  app.add_option("--backend", o.backend, "Where to filter; auto uses a GPU if there is one")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str()
      ->group(group.name());
  group.add("--device", o.device, "N", "Number of the GPU to filter on; without this option the first");
  group
      .add("--variant", o.variant, "NAME",
           "Implementation of the filter: serial or fast on the CPU; on a GPU, any unknown name prints the list")
      ->capture_default_str();
  group.flag("--compare", o.compare,
             "Also run the serial implementation on the CPU; print times with and without transfers, speed-up, and "
             "largest difference");
}

}  // namespace

void add_options(CLI::App& app, FilterOptions& o) {
  app.require_subcommand(0, 1);  // run() reports a missing one
  add_input_options(app, o);
  add_device_options(app, o);
  add_sync_option(app, o.durability);
  add_keep_partial_option(app, o.keep_partial);
  add_limit_options(app, o.source.limits);

  CLI::App* mean = add_command(app, o, FilterCommand::mean, "mean", "Moving mean of a signal, or of each picture",
                               "Filtered signal or video; - is standard output", true);
  mean->add_option("--width", o.width, "Width of the mean in samples; odd")->type_name("K")->capture_default_str();

  CLI::App* convolve =
      add_command(app, o, FilterCommand::convolve, "convolve", "Convolution; samples outside the input count as zero",
                  "Filtered signal or video; - is standard output", true);
  convolve
      ->add_option("--kernel,--taps", o.kernel,
                   "Kernel. For a signal: an odd number of taps such as 1,2,1, or mean:K. For video: mean:K (K odd, at "
                   "most 31) or gauss:S (standard deviation, at most 5)")
      ->type_name("KERNEL");

  CLI::App* histogram =
      add_command(app, o, FilterCommand::histogram, "histogram",
                  "Count how often each value from 0 to 255 occurs; for video, in the luma of all frames",
                  "Counts, one per line (default: standard output)", false);
  histogram->add_option("--bins", o.bins, "Number of equal bins")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->capture_default_str();
  histogram->add_option("--map", o.map, "Signal of 256 values: the bin of each byte value")->type_name("FILE");

  CLI::App* reduce = add_command(app, o, FilterCommand::reduce, "reduce",
                                 "Sum, smallest or largest value, or its place; for video, of all luma samples",
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
  scan->add_flag("--exclusive", o.exclusive,
                 "Leave out the value at the sum's own place: each sum covers only earlier values");

  CLI::App* shift = add_command(app, o, FilterCommand::shift, "shift",
                                "Measure the shift of every frame against one frame, in fractions of a sample",
                                "CSV of frame, dx, dy (default: standard output)", false);
  shift->add_option("--reference", o.reference, "Number of the frame that the others are compared with")
      ->check(whole_number())
      ->type_name("N")
      ->capture_default_str();

  CLI::App* whiten =
      add_command(app, o, FilterCommand::whiten, "whiten",
                  "Remove the background of a video: from each frame, subtract what the frames before it predict",
                  "Video of the difference (grey is zero); it starts at the first frame with a full history", true);
  WhiteningSettings& w = o.whitening;
  whiten->add_option("--memory", w.memory, "Number of earlier frames that predict a frame (the history)")
      ->type_name("N")
      ->capture_default_str();
  whiten->add_option("--method", w.method, "How to find the weights of the history frames: by shift, or by correlation")
      ->transform(
          one_of<WhiteningMethod>({{"shift", WhiteningMethod::shift}, {"correlation", WhiteningMethod::correlation}}))
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
      ->add_option(
          "--truth", o.truth,
          "File from c63gen --pattern stars --truth; prints the object's signal-to-noise ratio before and after")
      ->type_name("FILE");
  whiten->add_option("--before", o.before, "Picture of the last frame, unchanged: .png or .ppm")->type_name("FILE");
  whiten->add_option("--after", o.after, "Picture of the last frame, whitened: .png or .ppm")->type_name("FILE");
}

}  // namespace c63::tools
