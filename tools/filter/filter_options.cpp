#include "filter/filter_run.h"

#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/command_line.h"
#include "common/options.h"
#include "common/values.h"

namespace c63::tools {
namespace {

constexpr const char* kGroup = "Input and output";

std::vector<OptionRow> files_of(FilterOptions& o, const std::string& output, bool output_required) {
  return {{"input", &o.input, "FILE", "Signal or video to read; - is standard input", {.required = true}},
          {"output", &o.output, "FILE", output, {.required = output_required}}};
}

}  // namespace

void add_options(CLI::App& app, FilterOptions& o) {
  const auto resolution = [&o](const std::string& text) {
    const auto size = size_from(text);
    if (size) std::tie(o.source.width, o.source.height) = *size;
    return size.has_value();
  };
  add_options(
      app, kGroup,
      {{"--format", choice(o.input_format, values_of<SignalFormat>()), "NAME",
        "Format of the input signal: text, npy, or raw f64, f32, i32, u32, u8 (little-endian); auto decides by the file name"},
       {"--output-format", choice(o.output_format, values_of<SignalFormat>()), "NAME", "Format of the output signal, as for --format"},
       {"--video", [&o](bool) { o.video = true; }, "", "Read the input as video, whatever its name is"},
       {"--signal", [&o](bool) { o.video = false; }, "", "Read the input as a signal, whatever its name is"},
       {"--input-res", resolution, "WxH", "Size of raw video, such as 352x288", {.example = "352x288"}}});
  add_options(app, "Device",
              {{"--backend", &o.backend, "NAME", "Where to filter; auto uses a GPU if there is one", {.choices = {"auto", "cpu", "cuda"}}},
               {"--device", &o.device, "N", "Number of the GPU to filter on; without this option the first"},
               {"--variant", &o.variant, "NAME",
                "Implementation of the filter: serial or fast on the CPU; on a GPU, any unknown name prints the list"},
               {"--compare", &o.compare, "",
                "Also run the serial implementation on the CPU; print times with and without transfers, speed-up, and largest "
                "difference"}});
  add_output_options(app, o.durability, &o.keep_partial);
  add_limit_options(app, o.source.limits);
}

std::vector<Subcommand> filter_commands(FilterOptions& o) {
  static constexpr std::array<std::pair<ReductionKind, std::string_view>, 5> kReductions = {{{ReductionKind::sum, "sum"},
                                                                                            {ReductionKind::minimum, "min"},
                                                                                            {ReductionKind::maximum, "max"},
                                                                                            {ReductionKind::argmin, "argmin"},
                                                                                            {ReductionKind::argmax, "argmax"}}};
  static constexpr std::array<std::pair<WhiteningMethod, std::string_view>, 2> kMethods = {
      {{WhiteningMethod::shift, "shift"}, {WhiteningMethod::correlation, "correlation"}}};
  WhiteningSettings& w = o.whitening;
  std::vector<Subcommand> commands;
  const auto add = [&](FilterCommand command, const char* name, const char* description, std::vector<OptionRow> rows,
                       const std::vector<OptionRow>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
    commands.push_back({.name = name,
                        .description = description,
                        .add_options = [rows](CLI::App& app) { add_options(app, "Options", rows); },
                        .run =
                            [&o, command](const Session& session) {
                              o.command = command;
                              return run_filter(session, o);
                            }});
  };
  add(FilterCommand::mean, "mean", "Moving mean of a signal, or of each picture",
      files_of(o, "Filtered signal or video; - is standard output", true),
      {{"--width", &o.width, "K", "Width of the mean in samples; odd"}});
  add(FilterCommand::convolve, "convolve", "Convolution; samples outside the input count as zero",
      files_of(o, "Filtered signal or video; - is standard output", true),
      {{"--kernel,--taps", &o.kernel, "KERNEL",
        "Kernel. For a signal: an odd number of taps such as 1,2,1, or mean:K. For video: mean:K (K odd, at most 31) or "
        "gauss:S (standard deviation, at most 5)"}});
  add(FilterCommand::histogram, "histogram", "Count how often each value from 0 to 255 occurs; for video, in the luma of all frames",
      files_of(o, "Counts, one per line (default: standard output)", false),
      {{"--bins", &o.bins, "N", "Number of equal bins", {.least = 1, .most = 256}},
       {"--map", &o.map, "FILE", "Signal of 256 values: the bin of each byte value"}});
  add(FilterCommand::reduce, "reduce", "Sum, smallest or largest value, or its place; for video, of all luma samples",
      files_of(o, "The value (default: standard output)", false),
      {{"--op", choice(o.reduction, kReductions), "NAME", "sum, min, max, argmin or argmax"}});
  add(FilterCommand::scan, "scan", "Running sums of a signal", files_of(o, "Running sums; - is standard output", true),
      {{"--exclusive", &o.exclusive, "", "Leave out the value at the sum's own place: each sum covers only earlier values"}});
  add(FilterCommand::shift, "shift", "Measure the shift of every frame against one frame, in fractions of a sample",
      files_of(o, "CSV of frame, dx, dy (default: standard output)", false),
      {{"--reference", &o.reference, "N", "Number of the frame that the others are compared with", {.least = 0}}});
  add(FilterCommand::whiten, "whiten", "Remove the background of a video: from each frame, subtract what the frames before it predict",
      files_of(o, "Video of the difference (grey is zero); it starts at the first frame with a full history", true),
      {{"--memory", &w.memory, "N", "Number of earlier frames that predict a frame (the history)"},
       {"--method", choice(w.method, kMethods), "NAME", "How to find the weights of the history frames: by shift, or by correlation"},
       {"--degree", &w.degree, "N", "Degree of the polynomials in the shift"},
       {"--epsilon", &w.epsilon, "E", "Regularization, as a share of the matrix's mean diagonal"},
       {"--reject", &w.reject, "K",
        "Replace history samples that differ from their median over time by more than this many robust deviations"},
       {"--gain", &o.gain, "G", "Grey levels of the output for a difference of one"},
       {"--truth", &o.truth, "FILE",
        "File from c63gen --pattern stars --truth; prints the object's signal-to-noise ratio before and after"},
       {"--before", &o.before, "FILE", "Picture of the last frame, unchanged: .png or .ppm"},
       {"--after", &o.after, "FILE", "Picture of the last frame, whitened: .png or .ppm"}});
  return commands;
}

}  // namespace c63::tools
