// The list of benchmarks, and the options that they have.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <memory>

#include "bench/bench.h"
#include "codec/quantization.h"
#include "common/errors.h"

namespace c63::bench {
namespace {

struct Benchmark {
  const char* name;
  const char* description;
  std::string_view options;  ///< names of its options, each between blanks
  Options defaults;
  void (*run)(const Options&);  ///< null if this build lacks it
};

/// Adds the options that a benchmark has.
class Adder {
 public:
  Adder(CLI::App& app, const Benchmark& bench) : app_(app), names_(fmt::format(" {} ", bench.options)) {}

  template <typename T>
  void add(const char* name, T& value, const char* type, const char* text, const CLI::Validator& check = {}) {
    if (!has(name)) return;
    app_.add_option(name, value, text)->type_name(type)->capture_default_str()->check(check);
  }
  /// Adds an option whose value is a list, separated by commas.
  template <typename T>
  void add(const char* name, std::vector<T>& values, const char* type, const char* text, const CLI::Validator& check = {}) {
    if (!has(name)) return;
    CLI::Option* const option = app_.add_option(name, values, text)->type_name(type)->delimiter(',')->check(check);
    if (!values.empty()) option->default_str(fmt::format("{}", fmt::join(values, ",")));
  }
  void add(const char* name, bool& value, const char* text) {
    if (has(name)) app_.add_flag(name, value, text);
  }
  void require(const char* name) {
    if (has(name)) app_.get_option(std::string(name).substr(0, std::string(name).find(',')))->required();
  }

 private:
  [[nodiscard]] bool has(const char* name) const { return names_.find(fmt::format(" {} ", name)) != std::string::npos; }

  CLI::App& app_;
  std::string names_;
};

void add_options(CLI::App& app, const Benchmark& bench, Options& o) {
  Adder to(app, bench);
  to.add("--stream,stream", o.streams, "FILE", "Coded streams to measure on");
  to.require("--stream,stream");
  to.add("results", o.results, "FILE...", "Results of c63bench cpu --search FILE --json and c63bench me --json");
  to.require("results");
  to.add("--yuv,--video", o.yuv, "FILE", "Raw 4:2:0 file to measure on; without this option generated video");
  to.add("--sizes", o.sizes, "WxH", "Sizes of pictures; with --yuv the size of the file");
  to.add("--size", o.size, "WxH", "Size of the generated videos; both sides are multiples of 8");
  to.add("-w,--width", o.width, "N", "Width of the video");
  to.add("-h,--height", o.height, "N", "Height of the video");
  to.add("--frame", o.first_frame, "N", "Number of the first frame to use");
  to.add("--frames", o.frames, "N", "Number of frames of each video", CLI::Range(2, 1000));
  to.add("--range", o.range, "N", "Search range of luma", CLI::Range(1, 127));
  to.add("--contents", o.contents, "NAME", "Generated content to search in", CLI::IsMember({"natural", "noise"}));
  to.add("--preset", o.presets, "NAME", "Presets", CLI::IsMember({"reference", "fast", "good", "best"}));
  to.add("--tune", o.tune, "NAME", "What to optimize for, in presets other than reference", CLI::IsMember({"psnr", "ssim"}));
  to.add("--qp", o.qp, "N", "Quality setting; higher is better", CLI::Range(double{kMinQp}, double{kMaxQp}));
  to.add("--lanes", o.lanes, "N", "Numbers of GOPs to code at the same time; 0: automatic", CLI::Range(0, 4096));
  to.add("--jobs", o.jobs, "N", "Number of frames that one call searches, as in an encode with that many lanes", CLI::Range(1, 1000));
  to.add("--devices", o.devices, "N", "Numbers of the GPUs; without this option the first");
  to.add("--device", o.device, "N", "Number of the GPU");
  to.add("--repeats,--rounds", o.repeats, "N", "Number of measured runs", CLI::Range(1, 100000));
  to.add("--only", o.only, "TEXT", "Measure only what has one of these in its name");
  to.add("--kernels", o.kernels, "NAME",
         "Measure only these built-in kernels, separated by commas; without this option all, or with --kernel five of them");
  to.add("--me-kernel", o.kernel, "NAME", "Motion search kernel of the GPU");
  to.add("--upload", o.upload, "WHAT", "What is copied to the GPU for each frame: frame, or pair (the frame and its reference)",
         CLI::IsMember({"frame", "pair"}));
  to.add("--launch", o.launch, "HOW", "How kernels are launched: stream (one by one), or auto (as a recorded graph if a GPU has one lane)",
         CLI::IsMember({"auto", "stream"}));
  to.add("--from", o.from, "WHERE",
         "Where frames come from: memory, file (both copied), page-locked (not copied) or device (in GPU memory)",
         CLI::IsMember({"memory", "file", "page-locked", "device"}));
  to.add("--keyint", o.key_interval, "N", "Number of frames of a GOP");
  to.add("--gops", o.gops, "N", "Number of GOPs to encode");
  to.add("--thread-counts", o.thread_counts, "N", "Numbers of threads to decode with", CLI::Range(1, 1024));
  to.add("--output", o.outputs, "HOW", "views: frames in the decoder's memory; copies: frames copied to the caller's memory",
         CLI::IsMember({"views", "copies"}));
  to.add("--backend", o.backends, "NAME", "Where to decode: cpu, cuda or both; a GPU's views are in page-locked memory",
         CLI::IsMember({"cpu", "cuda"}));
  to.add("--mb", o.megabytes, "N", "Megabytes of input for functions that memory speed limits", CLI::Range(1.0, 16384.0));
  to.add("--cpu,!--no-cpu", o.cpu, "Measure on the CPU");
  to.add("--cuda,!--no-cuda", o.cuda, "Measure on the GPU");
  to.add("--python", o.python, "PROGRAM", "Python program that has numpy and the packages to measure");
  to.add("--verify", o.verify, "Compare the kernels with the CPU's search, not only with each other");
  to.add("--search", o.files, "FILE", "Race your own searches: .c, .cpp or .so in the form of c63/motion_kernel.h");
  to.add("--kernel", o.files, "FILE", "Race your own kernels: .cu, .cubin, .ptx or .so in the form of c63/motion_kernel.h");
  to.add("--inexact", o.inexact, "Accept raced searches that do not find the best vectors, and show how much larger their SAD is");
  to.add("--seed", o.seed, "N", "Seed of the race's test pictures; 0: taken from the clock");
  to.add("--limit", o.limit_s, "SECONDS", "Stop a raced file that takes longer than this", CLI::Range(1.0, 3600.0));
  to.add("--counters", o.counters,
         "Measure what limits each --kernel with NVIDIA's profiler Nsight Compute (ncu), if it is installed and permitted; takes seconds");
  to.add("--in-process", o.in_process, "Run the raced file in this process, for profilers and debuggers");
  to.add("--json", o.json, "FILE", "Write the results as JSON; - is stdout");
  to.add("-o,--output", o.output, "FILE", "Page to write; - is stdout");
}

#if defined(C63_HAVE_CUDA)
constexpr auto kEncode = bench_encode;
constexpr auto kDecide = bench_decide;
constexpr auto kMe = bench_me;
#else
constexpr void (*kEncode)(const Options&) = nullptr;
constexpr auto kDecide = kEncode;
constexpr auto kMe = kEncode;
#endif

const std::vector<Benchmark>& all_benches() {
  static const std::vector<Benchmark> benches = {
      {"cpu", "Measure the CPU kernels of every instruction set, and race your own search",
       "--yuv,--video -w,--width -h,--height --frame --repeats,--rounds --only --search --range --inexact --seed --limit --in-process --json",
       {}, bench_cpu},
      {"filter", "Measure convolution, histogram, matrix product, shift and whitening",
       "--mb --repeats,--rounds --only --device --cpu,!--no-cpu --cuda,!--no-cuda --json", {}, bench_filters},
      {"scan", "Measure reductions and prefix scans", "--mb --repeats,--rounds --only --device --cpu,!--no-cpu --cuda,!--no-cuda --json", {},
       bench_scans},
      {"decode", "Measure decoding with several numbers of threads", "--stream,stream --thread-counts --output --backend --repeats,--rounds --json",
       {.repeats = 7}, bench_decode},
      {"estimate", "Measure motion estimators of other programs, and c63's for comparison",
       "--size --frames --range --repeats,--rounds --only --python --json",
       {.repeats = 5, .only = {"opencv", "ffmpeg", "gpu", "nvidia"}}, bench_estimate},
      {"board", "Rank the results of several races in one list", "results -o,--output", {}, make_board},
      {"encode", "Measure whole encodes on the GPU",
       "--sizes --lanes --devices --me-kernel --preset --tune --qp --upload --launch --yuv,--video --from --keyint --gops --repeats,--rounds --json",
       {.repeats = 5}, kEncode},
      {"decide", "Measure the stages of rate decisions on the GPU, with the input in GPU memory",
       "--sizes --preset --qp --yuv,--video --lanes --repeats,--rounds --device --json", {.presets = {"fast", "good"}, .lanes = {1, 8, 32}},
       kDecide},
      {"me", "Measure the motion search kernels of the GPU, and race your own",
       "--sizes --kernels --contents --jobs --yuv,--video --frames --range --repeats,--rounds --device --json --kernel --inexact --seed --limit "
       "--counters --in-process --verify",
       {.sizes = {"352x288", "1280x720", "1920x1080", "3840x2160"}, .repeats = 30}, kMe},
  };
  return benches;
}

}  // namespace

std::vector<tools::Subcommand> benches() {
  std::vector<tools::Subcommand> subcommands;
  for (const Benchmark& bench : all_benches()) {
    if (bench.run == nullptr) {
      subcommands.push_back(tools::subcommand_without_cuda(bench.name));
      continue;
    }
    const auto options = std::make_shared<Options>(bench.defaults);
    subcommands.push_back({.name = bench.name,
                           .description = bench.description,
                           .add_options = [options, &bench](CLI::App& app) { add_options(app, bench, *options); },
                           .run =
                               [options, &bench](const tools::Session& session) {
                                 options->threads = session.common.threads;
                                 bench.run(*options);
                                 return tools::kExitDone;
                               }});
  }
  return subcommands;
}

}  // namespace c63::bench
