#include "bench/bench_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>

#include "codec/quantization.h"
#include "common/command_line.h"

namespace c63::bench {
namespace {

/// Adds an option with one value.
template <typename T>
CLI::Option* add(CLI::App& app, const char* name, T& value, const char* type, const char* description) {
  return app.add_option(name, value, description)->type_name(type)->capture_default_str();
}

/// Adds an option whose value is a list, separated by commas.
template <typename T>
CLI::Option* add_list(CLI::App& app, const char* name, std::vector<T>& values, const char* type,
                      const char* description) {
  CLI::Option* const option = app.add_option(name, values, description)->type_name(type)->delimiter(',');
  if (!values.empty()) option->default_str(fmt::format("{}", fmt::join(values, ",")));
  return option;
}

void add_json(CLI::App& app, std::string& json) {
  add(app, "--json", json, "FILE", "Write the results as JSON; - is stdout");
}

void add_device(CLI::App& app, int& device) { add(app, "--device", device, "N", "Number of the GPU"); }

void add_repeats(CLI::App& app, int& repeats) {
  add(app, "--repeats", repeats, "N", "Number of measured runs")->check(CLI::Range(1, 100000));
}

void add_sizes(CLI::App& app, std::vector<std::string>& sizes) {
  add_list(app, "--sizes", sizes, "WxH", "Sizes of pictures");
}

void add_kernel(CLI::App& app, std::string& kernel) {
  add(app, "--me-kernel", kernel, "NAME", "Motion search kernel of the GPU");
}

void add_presets(CLI::App& app, std::vector<std::string>& presets, const std::vector<std::string>& known) {
  add_list(app, "--preset", presets, "NAME", "Presets")->check(CLI::IsMember(known));
}

void add_qp(CLI::App& app, double& qp) {
  add(app, "--qp", qp, "N", "Quality setting; higher is better")->check(CLI::Range(double{kMinQp}, double{kMaxQp}));
}

void add_page_cpu(CLI::App& app, std::string& cpu) {
  add(app, "--cpu", cpu, "FILE",
      "Also show results of a CPU on the page, from c63bench cpu --json or tools/checks/cpu_check");
}

void add_race(CLI::App& app, bool& inexact, std::uint32_t& seed, double& limit_s) {
  app.add_flag("--inexact", inexact,
               "Accept raced searches that do not find the best vectors, and show how much larger their SAD is");
  app.add_option("--seed", seed, "Seed of the race's test pictures; without this option it comes from the clock")
      ->type_name("N");
  add(app, "--limit", limit_s, "SECONDS", "Stop a raced file that takes longer than this")
      ->check(CLI::Range(1.0, 3600.0));
}

CLI::Option* add_yuv(CLI::App& app, std::string& yuv) {
  return add(app, "--yuv", yuv, "FILE",
             "Raw 4:2:0 file to measure on instead of generated video; its size is the one --sizes");
}

}  // namespace

void add_options(CLI::App& app, CpuBenchOptions& options) {
  add(app, "--video", options.video, "FILE", "Raw 4:2:0 video to measure on; without this option a generated one");
  add(app, "-w,--width", options.width, "N", "Width of the video");
  add(app, "-h,--height", options.height, "N", "Height of the video");
  add(app, "--frame", options.frame, "N", "Number of the first frame to use");
  add(app, "--rounds", options.rounds, "N", "Number of measured rounds")->check(CLI::Range(1, 100000));
  add(app, "--only", options.only, "TEXT", "Measure only kernels whose name and level contain this");
  add_list(app, "--search", options.searches, "FILE", "Race your own searches: .c, .cpp or .so in the form of c63/motion_kernel.h");
  add(app, "--range", options.range, "N", "Search range of the race's luma planes")->check(CLI::Range(1, 127));
  add_race(app, options.inexact, options.seed, options.limit_s);
  app.add_flag("--in-process", options.in_process, "Run --search in this process, for profilers and debuggers");
  add_json(app, options.json);
}

void add_options(CLI::App& app, StageBenchOptions& options) {
  add(app, "--yuv", options.yuv, "FILE", "Raw 4:2:0 video to measure on")->required();
  add(app, "-w,--width", options.width, "N", "Width of the video");
  add(app, "-h,--height", options.height, "N", "Height of the video");
  add(app, "--frames", options.frames, "N", "Frames to encode as one GOP")->check(CLI::Range(2, 100000));
  add_presets(app, options.presets, {"reference", "fast", "good"});
  add_list(app, "--qp", options.qps, "N", "Quality settings; higher is better")
      ->check(CLI::Range(double{kMinQp}, double{kMaxQp}));
  add(app, "--simd", options.simd, "LEVEL", "Instruction set")->check(CLI::IsMember(tools::simd_level_names()));
  add_repeats(app, options.repeats);
  add_json(app, options.json);
}

void add_options(CLI::App& app, DecodeBenchOptions& options) {
  add_list(app, "--stream,stream", options.streams, "FILE", "Coded streams to measure on")->required();
  add_list(app, "--thread-counts", options.threads, "N", "Numbers of threads to decode with")
      ->check(CLI::Range(1, 1024));
  add_list(app, "--output", options.outputs, "HOW",
           "views: frames in the decoder's memory; copies: frames copied to the caller's memory")
      ->check(CLI::IsMember({"views", "copies"}));
  add_list(app, "--backend", options.backends, "NAME",
           "Where to decode: cpu, cuda or both; a GPU's views are in page-locked memory")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  add_repeats(app, options.repeats);
  add_json(app, options.json);
}

void add_options(CLI::App& app, FilterBenchOptions& options) {
  add(app, "--mb", options.megabytes, "N", "Megabytes of input for functions that memory speed limits")
      ->check(CLI::Range(1.0, 16384.0));
  add_repeats(app, options.repeats);
  add_list(app, "--only", options.only, "TEXT", "Measure only functions whose names contain one of these");
  add_device(app, options.device);
  app.add_flag("--cpu,!--no-cpu", options.cpu, "Measure on the CPU");
  app.add_flag("--cuda,!--no-cuda", options.cuda, "Measure on the GPU");
  add_json(app, options.json);
}

void add_options(CLI::App& app, EncodeBenchOptions& options) {
  add_sizes(app, options.sizes);
  add_list(app, "--lanes", options.lanes, "N", "Numbers of GOPs to encode at the same time; 0: automatic");
  add_list(app, "--devices", options.devices, "N", "Numbers of the GPUs; without this option the first");
  add_kernel(app, options.kernel);
  add_presets(app, options.presets, {"reference", "fast", "good", "best"});
  add(app, "--tune", options.tune, "NAME", "What to optimize for, in presets other than reference")
      ->check(CLI::IsMember({"psnr", "ssim"}));
  add_qp(app, options.qp);
  add(app, "--upload", options.upload, "WHAT",
      "What is copied to the GPU for each frame: frame, or pair (the frame and its reference)")
      ->check(CLI::IsMember({"frame", "pair"}));
  add_list(app, "--launch", options.launch, "HOW",
           "How kernels are launched: stream (one by one), or auto (as a recorded graph if a GPU has one lane)")
      ->check(CLI::IsMember({"auto", "stream"}));
  add_yuv(app, options.yuv);
  add_list(app, "--from", options.from, "WHERE",
           "Where frames come from: memory, file (both copied), page-locked (not copied) or device (in GPU memory)")
      ->check(CLI::IsMember({"memory", "file", "page-locked", "device"}));
  add(app, "--keyint", options.key_interval, "N", "Number of frames of a GOP");
  add(app, "--gops", options.gops, "N", "Number of GOPs to encode");
  add_repeats(app, options.repeats);
  add_json(app, options.json);
}

void add_options(CLI::App& app, FrameBenchOptions& options) {
  add_sizes(app, options.sizes);
  add_kernel(app, options.kernel);
  add_yuv(app, options.yuv);
  add(app, "--lanes", options.lanes, "N", "Number of frames, from independent GOPs, that one launch codes")
      ->check(CLI::Range(1, 256));
  add_repeats(app, options.repeats);
  add_device(app, options.device);
  add_json(app, options.json);
}

void add_options(CLI::App& app, DecideBenchOptions& options) {
  add_sizes(app, options.sizes);
  add_presets(app, options.presets, {"fast", "good", "best"});
  add_qp(app, options.qp);
  add_yuv(app, options.yuv);
  add_list(app, "--lanes", options.lanes, "N", "Number of frames, from independent GOPs, that one launch codes")
      ->check(CLI::Range(1, 256));
  add_repeats(app, options.repeats);
  add_device(app, options.device);
  add_json(app, options.json);
}

void add_options(CLI::App& app, MeBenchOptions& options) {
  add_sizes(app, options.sizes);
  add_list(app, "--kernels", options.kernels, "NAME", "Measure only these built-in kernels, separated by commas; without this option all, or with --kernel five of them");
  add_list(app, "--contents", options.contents, "NAME", "Generated content to search in")
      ->check(CLI::IsMember({"natural", "noise"}));
  add_list(app, "--jobs", options.jobs, "N",
           "Number of frames that one call searches, as in an encode with that many lanes")
      ->check(CLI::Range(1, 1000));
  CLI::Option* yuv = add(app, "--yuv", options.yuv, "FILE", "Raw 4:2:0 file to search in instead of generated content");
  add(app, "--yuv-size", options.yuv_size, "WxH", "Size of the --yuv file")->needs(yuv);
  add(app, "--frames", options.frames, "N", "Number of frames of each video")->check(CLI::Range(2, 1000));
  add(app, "--range", options.range, "N", "Search range")->check(CLI::Range(1, 127));
  add_repeats(app, options.repeats);
  add_device(app, options.device);
  add_json(app, options.json);
  add(app, "--html", options.html, "FILE",
      "Write an HTML page that compares the kernels with each other and with the limits of the GPU");
  add_page_cpu(app, options.cpu);
  add_list(app, "--kernel", options.files, "FILE", "Race your own kernels: .cu, .cubin, .ptx or .so in the form of c63/motion_kernel.h");
  add_race(app, options.inexact, options.seed, options.limit_s);
  app.add_flag("--counters", options.counters,
               "Measure what limits each --kernel with NVIDIA's profiler Nsight Compute (ncu), if it is installed and permitted; "
               "takes seconds");
  app.add_flag("--in-process", options.in_process,
               "Run --kernel in this process, for profilers and debuggers, and leave out the built-in kernels");
  app.add_flag("--verify", options.verify, "Compare the kernels with the CPU's search, not only with each other");
}

void add_options(CLI::App& app, EstimateBenchOptions& options) {
  add(app, "--size", options.size, "WxH", "Size of the generated videos; both sides are multiples of 8");
  add(app, "--frames", options.frames, "N", "Number of frames of each video")->check(CLI::Range(2, 1000));
  add(app, "--range", options.range, "N", "Search range of block searches")->check(CLI::Range(1, 127));
  add_repeats(app, options.repeats);
  add_list(app, "--only", options.only, "GROUP", "What to measure in addition to c63's search on the CPU")
      ->check(CLI::IsMember({"opencv", "ffmpeg", "gpu", "nvidia"}));
  add(app, "--python", options.python, "PROGRAM", "Python program that has numpy and the packages to measure");
  add_json(app, options.json);
}

void add_options(CLI::App& app, PageOptions& options) {
  add(app, "figures", options.figures, "FILE", "Results of c63bench me --json, or of tools/gpu_check");
  add_page_cpu(app, options.cpu);
  add(app, "-o,--output", options.output, "FILE", "Page to write; - is stdout");
}

void add_options(CLI::App& app, BoardOptions& options) {
  add(app, "results", options.results, "FILE...",
      "Results of c63bench cpu --search FILE --json and me --kernel FILE --json")
      ->required();
  add(app, "-o,--output", options.output, "FILE", "Page to write; - is stdout");
}

}  // namespace c63::bench
