// The list of benchmarks, and the options that they have.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "bench/bench.h"
#include "c63/error.h"
#include "codec/quantization.h"
#include "common/errors.h"
#include "common/options.h"
#include "race/emulated_gpu.h"

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
void add_options(CLI::App& app, const Benchmark& bench, Options& o) {
  const std::vector<tools::OptionRow> all = {
      {"--stream,stream", &o.streams, "FILE", "Coded streams to measure on", {.delimiter = ',', .required = true}},
      {"results",
       &o.results,
       "FILE...",
       "Results of c63bench cpu --search FILE --json and c63bench me --json",
       {.delimiter = ',', .required = true}},
      {"--yuv,--video", &o.yuv, "FILE", "Raw 4:2:0 file to measure on; without this option generated video"},
      {"--sizes", &o.sizes, "WxH", "Sizes of pictures; with --yuv the size of the file", {.delimiter = ','}},
      {"--size", &o.size, "WxH", "Size of the generated videos; both sides are multiples of 8"},
      {"-w,--width", &o.width, "N", "Width of the video"},
      {"-h,--height", &o.height, "N", "Height of the video"},
      {"--frame", &o.first_frame, "N", "Number of the first frame to use"},
      {"--frames", &o.frames, "N", "Number of frames of each video", {.least = 2, .most = 1000}},
      {"--range", &o.range, "N", "Search range of luma", {.least = 1, .most = 127}},
      {"--contents",
       &o.contents,
       "NAME",
       "Generated content to search in",
       {.choices = {"natural", "noise"}, .delimiter = ','}},
      {"--preset", &o.presets, "NAME", "Presets", {.choices = {"reference", "fast", "good", "best"}, .delimiter = ','}},
      {"--tune",
       &o.tune,
       "NAME",
       "What to optimize for, in presets other than reference",
       {.choices = {"psnr", "ssim"}}},
      {"--qp", &o.qp, "N", "Quality setting; higher is better", {.least = kMinQp, .most = kMaxQp}},
      {"--lanes",
       &o.lanes,
       "N",
       "Numbers of GOPs to code at the same time; 0: automatic",
       {.least = 0, .most = 4096, .delimiter = ','}},
      {"--jobs",
       &o.jobs,
       "N",
       "Number of frames that one call searches, as in an encode with that many lanes",
       {.least = 1, .most = 1000, .delimiter = ','}},
      {"--devices", &o.devices, "N", "Numbers of the GPUs; without this option the first", {.delimiter = ','}},
      {"--device", &o.device, "N", "Number of the GPU"},
      {"--cards",
       &o.cards,
       "N",
       "Also measure fast and eliminate in the forms that these cards take, with as many thread blocks on a multiprocessor",
       {.choices = {"75", "80", "86", "87", "89", "90", "100", "120"}, .delimiter = ','}},
      {"--repeats,--rounds", &o.repeats, "N", "Number of measured runs", {.least = 1, .most = 100000}},
      {"--only", &o.only, "TEXT", "Measure only what has one of these in its name", {.delimiter = ','}},
      {"--kernels",
       &o.kernels,
       "NAME",
       "Measure only these built-in kernels, separated by commas; without this option all, or with --kernel five of "
       "them",
       {.delimiter = ','}},
      {"--me-kernel", &o.kernel, "NAME", "Motion search kernel of the GPU"},
      {"--upload",
       &o.upload,
       "WHAT",
       "What is copied to the GPU for each frame: frame, or pair (the frame and its reference)",
       {.choices = {"frame", "pair"}}},
      {"--launch",
       &o.launch,
       "HOW",
       "How kernels are launched: stream (one by one), or auto (as a recorded graph if a GPU has one lane)",
       {.choices = {"auto", "stream"}, .delimiter = ','}},
      {"--from",
       &o.from,
       "WHERE",
       "Where frames come from: memory, file (both copied), page-locked (not copied) or device (in GPU memory)",
       {.choices = {"memory", "file", "page-locked", "device"}, .delimiter = ','}},
      {"--keyint", &o.key_interval, "N", "Number of frames of a GOP"},
      {"--gops", &o.gops, "N", "Number of GOPs to encode"},
      {"--thread-counts",
       &o.thread_counts,
       "N",
       "Numbers of threads to decode with",
       {.least = 1, .most = 1024, .delimiter = ','}},
      {"--output",
       &o.outputs,
       "HOW",
       "views: frames in the decoder's memory; copies: frames copied to the caller's memory",
       {.choices = {"views", "copies"}, .delimiter = ','}},
      {"--backend",
       &o.backends,
       "NAME",
       "Where to decode: cpu, cuda or both; a GPU's views are in page-locked memory",
       {.choices = {"cpu", "cuda"}, .delimiter = ','}},
      {"--mb",
       &o.megabytes,
       "N",
       "Megabytes of input for functions that memory speed limits",
       {.least = 1, .most = 16384}},
      {"--cpu,!--no-cpu", &o.cpu, "", "Measure on the CPU"},
      {"--cuda,!--no-cuda", &o.cuda, "", "Measure on the GPU"},
      {"--python", &o.python, "PROGRAM", "Python program that has numpy and the packages to measure"},
      {"--verify", &o.verify, "", "Compare the kernels with the CPU's search, not only with each other"},
      {"--search",
       &o.files,
       "FILE",
       "Race your own searches: .c, .cpp or .so in the form of c63/motion_kernel.h",
       {.delimiter = ','}},
      {"--kernel",
       &o.files,
       "FILE",
       "Race your own kernels: .cu, .cubin, .ptx or .so in the form of c63/motion_kernel.h",
       {.delimiter = ','}},
      {"--inexact", &o.inexact, "",
       "Accept raced searches that do not find the best vectors, and show how much larger their SAD is"},
      {"--seed", &o.seed, "N", "Repeat the race with this seed, which its results hold; 0: a new seed. The board does not rank a repeat"},
      {"--limit", &o.limit_s, "SECONDS", "Stop a raced file that takes longer than this", {.least = 1, .most = 3600}},
      {"--counters", &o.counters, "",
       "Measure what limits each --kernel with NVIDIA's profiler Nsight Compute (ncu), if it is installed and "
       "permitted, and keep its profile (KERNEL.ncu-rep) next to the file of --json; takes seconds"},
      {"--emulate", &o.emulate, "",
       "Judge each --kernel (.cu) without a GPU: a CPU runs it, finds races, divergent barriers, and accesses outside memory by line, and counts "
       "accesses. There are no times"},
      {"--in-process", &o.in_process, "", "Run the raced file in this process, for profilers and debuggers"},
      {"--json", &o.json, "FILE", "Write the results as JSON; - is stdout"},
      {"-o,--output", &o.output, "FILE", "Page to write; - is stdout"}};
  std::vector<tools::OptionRow> rows;
  std::ranges::copy_if(all, std::back_inserter(rows), [&](const tools::OptionRow& row) {
    return fmt::format(" {} ", bench.options).find(" " + row.names + " ") != std::string::npos;
  });
  tools::add_options(app, "Options", rows);
}

#if defined(C63_HAVE_CUDA)
constexpr auto kEncode = bench_encode;
constexpr auto kDecide = bench_decide;
constexpr auto kMeOnGpu = bench_me;
#else
constexpr void (*kEncode)(const Options&) = nullptr;
constexpr auto kDecide = kEncode;
constexpr void (*kMeOnGpu)(const Options&) = [](const Options&) { throw tools::not_built_with_cuda(); };
#endif

void run_me(const Options& options) try {
  options.emulate ? race_emulated(options) : kMeOnGpu(options);
} catch (const Error& error) {
  if (error.kind() != ErrorKind::device || options.files.empty()) throw;
  throw Error(error.kind(), error.id(), error.message() + "; with --emulate, the CPU judges --kernel without a GPU", error.place());
}

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
       "--sizes --kernels --contents --jobs --yuv,--video --frames --range --repeats,--rounds --device --cards --json --kernel --inexact --seed --limit "
       "--counters --emulate --in-process --verify",
       {.sizes = {"352x288", "1280x720", "1920x1080", "3840x2160"}, .repeats = 30}, run_me},
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
  subcommands.push_back(tools::subcommand_of_words(
      "nvcc", "Compile a CUDA program with nvcc's options for a GPU that the CPU emulates: it finds races and accesses outside memory by line",
      [](std::vector<std::string> words) { race::compile_program(words); }));
  subcommands.push_back(tools::subcommand_of_words("emulated", "Run a program of c63bench nvcc; such programs call this themselves",
                                                   [](std::vector<std::string> words) { race::run_program(std::move(words)); }));
  return subcommands;
}

}  // namespace c63::bench
