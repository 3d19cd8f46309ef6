#include "bench/bench_options.h"

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
  return add(app, name, values, type, description)->delimiter(',');
}

void add_json(CLI::App& app, std::string& json) {
  add(app, "--json", json, "FILE", "Write the figures there; - is stdout");
}

void add_device(CLI::App& app, int& device) { add(app, "--device", device, "N", "GPU, by number"); }

void add_repeats(CLI::App& app, int& repeats) {
  add(app, "--repeats", repeats, "N", "Measured runs")->check(CLI::Range(1, 100000));
}

void add_sizes(CLI::App& app, std::vector<std::string>& sizes) {
  add_list(app, "--sizes", sizes, "WxH", "Sizes of pictures");
}

void add_kernel(CLI::App& app, std::string& kernel) { add(app, "--me-kernel", kernel, "NAME", "Motion kernel"); }

void add_presets(CLI::App& app, std::vector<std::string>& presets, const std::vector<std::string>& known) {
  add_list(app, "--preset", presets, "NAME", "Presets")->check(CLI::IsMember(known));
}

void add_qp(CLI::App& app, double& qp) {
  add(app, "--qp", qp, "N", "Quality, higher is better")->check(CLI::Range(double{kMinQp}, double{kMaxQp}));
}

void add_page_cpu(CLI::App& app, std::string& cpu) {
  add(app, "--cpu", cpu, "FILE", "Figures of a CPU for the page, from c63bench cpu --json or tools/checks/cpu_check");
}

void add_race(CLI::App& app, bool& inexact, std::uint32_t& seed, double& limit_s) {
  app.add_flag("--inexact", inexact, "Vectors of the race need not be the best: tell the SAD that they lose");
  app.add_option("--seed", seed, "Samples of the race's cases; by the clock unless given")->type_name("N");
  add(app, "--limit", limit_s, "SECONDS", "End a file of the race that takes longer")->check(CLI::Range(1.0, 3600.0));
}

CLI::Option* add_yuv(CLI::App& app, std::string& yuv) {
  return add(app, "--yuv", yuv, "FILE", "Raw 4:2:0 file of the one size given instead of made content");
}

}  // namespace

void add_options(CLI::App& app, CpuBenchOptions& options) {
  add(app, "--video", options.video, "FILE", "Raw 4:2:0 video to measure on; without it a made one");
  add(app, "-w,--width", options.width, "N", "Its width");
  add(app, "-h,--height", options.height, "N", "Its height");
  add(app, "--frame", options.frame, "N", "Frame to begin at");
  add(app, "--rounds", options.rounds, "N", "Measured rounds")->check(CLI::Range(1, 100000));
  add(app, "--only", options.only, "TEXT", "Only kernels whose name and level contain this");
  add_list(app, "--search", options.searches, "FILE", "Race your own searches: .c, .cpp or .so in the form of c63/motion_kernel.h");
  add(app, "--range", options.range, "N", "Search range of the race's luma planes")->check(CLI::Range(1, 127));
  add_race(app, options.inexact, options.seed, options.limit_s);
  app.add_flag("--in-process", options.in_process, "Run --search in this process, for profilers and debuggers");
  add_json(app, options.json);
}

void add_options(CLI::App& app, StageBenchOptions& options) {
  add(app, "--yuv", options.yuv, "FILE", "Raw 4:2:0 video to measure on")->required();
  add(app, "-w,--width", options.width, "N", "Its width");
  add(app, "-h,--height", options.height, "N", "Its height");
  add(app, "--frames", options.frames, "N", "Frames to encode as one GOP")->check(CLI::Range(2, 100000));
  add_presets(app, options.presets, {"reference", "fast", "good"});
  add_list(app, "--qp", options.qps, "N", "Qualities, higher is better")->check(CLI::Range(double{kMinQp}, double{kMaxQp}));
  add(app, "--simd", options.simd, "LEVEL", "Instruction set")->check(CLI::IsMember(tools::simd_level_names()));
  add_repeats(app, options.repeats);
  add_json(app, options.json);
}

void add_options(CLI::App& app, DecodeBenchOptions& options) {
  add_list(app, "--stream,stream", options.streams, "FILE", "Coded streams to measure on")->required();
  add_list(app, "--thread-counts", options.threads, "N", "Numbers of threads")->check(CLI::Range(1, 1024));
  add_list(app, "--output", options.outputs, "HOW", "Frames as the decoder has them, or copied to memory of the caller")
      ->check(CLI::IsMember({"views", "copies"}));
  add_list(app, "--backend", options.backends, "NAME", "Where to decode: cpu, cuda or both; a GPU's views show page-locked memory")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  add_repeats(app, options.repeats);
  add_json(app, options.json);
}

void add_options(CLI::App& app, FilterBenchOptions& options) {
  add(app, "--mb", options.megabytes, "N", "Megabytes of input for utilities that memory limits")
      ->check(CLI::Range(1.0, 16384.0));
  add_repeats(app, options.repeats);
  add_list(app, "--only", options.only, "TEXT", "Utilities whose names contain one of these");
  add_device(app, options.device);
  app.add_flag("--cpu,!--no-cpu", options.cpu, "Time the CPU");
  app.add_flag("--cuda,!--no-cuda", options.cuda, "Time the GPU");
  add_json(app, options.json);
}

void add_options(CLI::App& app, EncodeBenchOptions& options) {
  add_sizes(app, options.sizes);
  add_list(app, "--lanes", options.lanes, "N", "GOPs at the same time; 0: chosen");
  add_list(app, "--devices", options.devices, "N", "GPUs, by number; without it the first");
  add_kernel(app, options.kernel);
  add_presets(app, options.presets, {"reference", "fast", "good", "best"});
  add(app, "--tune", options.tune, "NAME", "What presets that decide by rate are tuned for")->check(CLI::IsMember({"psnr", "ssim"}));
  add_qp(app, options.qp);
  add(app, "--upload", options.upload, "WHAT", "What is uploaded")->check(CLI::IsMember({"frame", "pair"}));
  add_list(app, "--launch", options.launch, "HOW", "auto: graphs of a GPU's only lane; stream: kernel by kernel")
      ->check(CLI::IsMember({"auto", "stream"}));
  add_yuv(app, options.yuv);
  add_list(app, "--from", options.from, "WHERE",
           "Where frames come from: memory or file (copied), page-locked (not copied), device (on the GPU)")
      ->check(CLI::IsMember({"memory", "file", "page-locked", "device"}));
  add(app, "--keyint", options.key_interval, "N", "Frames of a GOP");
  add(app, "--gops", options.gops, "N", "GOPs");
  add_repeats(app, options.repeats);
  add_json(app, options.json);
}

void add_options(CLI::App& app, FrameBenchOptions& options) {
  add_sizes(app, options.sizes);
  add_kernel(app, options.kernel);
  add_yuv(app, options.yuv);
  add(app, "--lanes", options.lanes, "N", "Frames of independent GOPs in a launch")->check(CLI::Range(1, 256));
  add_repeats(app, options.repeats);
  add_device(app, options.device);
  add_json(app, options.json);
}

void add_options(CLI::App& app, DecideBenchOptions& options) {
  add_sizes(app, options.sizes);
  add_presets(app, options.presets, {"fast", "good", "best"});
  add_qp(app, options.qp);
  add_yuv(app, options.yuv);
  add_list(app, "--lanes", options.lanes, "N", "Frames of independent GOPs in a launch")->check(CLI::Range(1, 256));
  add_repeats(app, options.repeats);
  add_device(app, options.device);
  add_json(app, options.json);
}

void add_options(CLI::App& app, MeBenchOptions& options) {
  add_sizes(app, options.sizes);
  add_list(app, "--kernels", options.kernels, "NAME", "Only these");
  add_list(app, "--contents", options.contents, "NAME", "Made content")->check(CLI::IsMember({"natural", "noise"}));
  add_list(app, "--jobs", options.jobs, "N", "Frames that a call searches, like an encode with that many lanes")
      ->check(CLI::Range(1, 1000));
  CLI::Option* yuv = add(app, "--yuv", options.yuv, "FILE", "Raw 4:2:0 file instead of made content");
  add(app, "--yuv-size", options.yuv_size, "WxH", "Its size")->needs(yuv);
  add(app, "--frames", options.frames, "N", "Frames of a video")->check(CLI::Range(2, 1000));
  add(app, "--range", options.range, "N", "Search range")->check(CLI::Range(1, 127));
  add_repeats(app, options.repeats);
  add_device(app, options.device);
  add_json(app, options.json);
  add(app, "--html", options.html, "FILE", "Write a page of the ladder and the roofline");
  add_page_cpu(app, options.cpu);
  add_list(app, "--kernel", options.files, "FILE", "Race your own kernels: .cu, .cubin, .ptx or .so in the form of c63/motion_kernel.h");
  add_race(app, options.inexact, options.seed, options.limit_s);
  app.add_flag("--counters", options.counters, "Let ncu count what limits each --kernel, if it is installed and may; takes seconds");
  app.add_flag("--in-process", options.in_process, "Run --kernel in this process, for profilers and debuggers; the built-in ones are left out");
  app.add_flag("--verify", options.verify, "Compare with the CPU's search, not only with each other");
}

void add_options(CLI::App& app, EstimateBenchOptions& options) {
  add(app, "--size", options.size, "WxH", "Size of the made videos; multiples of 8");
  add(app, "--frames", options.frames, "N", "Frames of each video")->check(CLI::Range(2, 1000));
  add(app, "--range", options.range, "N", "Search range of block searches")->check(CLI::Range(1, 127));
  add_repeats(app, options.repeats);
  add_list(app, "--only", options.only, "GROUP", "What to measure beside c63's search on the CPU")
      ->check(CLI::IsMember({"opencv", "ffmpeg", "gpu", "nvidia"}));
  add(app, "--python", options.python, "PROGRAM", "Python that has numpy, and what is to be measured");
  add_json(app, options.json);
}

void add_options(CLI::App& app, PageOptions& options) {
  add(app, "figures", options.figures, "FILE", "Figures of c63bench me (--json), or a result of tools/gpu_check");
  add_page_cpu(app, options.cpu);
  add(app, "-o,--output", options.output, "FILE", "Page to write; - is stdout");
}

void add_options(CLI::App& app, BoardOptions& options) {
  add(app, "results", options.results, "FILE...", "Results of c63bench cpu --search and me --kernel (--json)")->required();
  add(app, "-o,--output", options.output, "FILE", "Page to write; - is stdout");
}

}  // namespace c63::bench
