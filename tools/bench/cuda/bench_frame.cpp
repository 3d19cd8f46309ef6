// c63bench frame: the time of one frame on the GPU, stage by stage, with all data on the device.

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/cuda/resident_frames.h"
#include "bench/cuda/yuv_video.h"
#include "bench/figures.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "common/values.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

/// Returns the microseconds per frame. A graph runs `enqueue` for `frames` inter frames of each lane, and its time is
/// divided by the number of all these frames. One call of `enqueue` puts a frame of each lane on the stream.
template <typename Enqueue>
Sample time_graph(ResidentFrames& resident, int frames, const FrameBenchOptions& options, Enqueue&& enqueue) {
  resident.choose(0);
  resident.code();
  resident.write();
  constexpr int kCallsToChoose = 6;  // calls in which an automatic kernel measures and chooses
  for (int call = 0; call < kCallsToChoose; ++call) {
    resident.choose(1);
    resident.search();
    resident.stream().synchronize();
  }
  const cuda::GraphExec graph(cuda::Graph::capture(resident.stream(), [&] {
    for (int i = 1; i <= frames; ++i) {
      resident.choose(i);
      enqueue();
    }
  }));
  const cuda::Event start(cuda::Event::Timing::on);
  const cuda::Event stop(cuda::Event::Timing::on);
  std::vector<double> microseconds;
  for (int run = 0; run < options.repeats + 3; ++run) {
    start.record(resident.stream());
    graph.launch(resident.stream());
    stop.record(resident.stream());
    stop.synchronize();
    if (run >= 3) microseconds.push_back(stop.milliseconds_since(start) * 1e3 / (frames * options.lanes));
  }
  return summarize(std::move(microseconds));
}

void run(const FrameBenchOptions& options) {
  const cuda::DeviceInfo& device = cuda::require_device(options.device);
  if (!cuda::motion_kernel_from(options.kernel)) {
    std::string known;
    for (const cuda::MotionKernelInfo& info : cuda::motion_kernels()) known += " " + std::string(info.name);
    throw Error(ErrorKind::usage, "C63-BENCH-KERNEL", "there is no motion kernel '" + options.kernel + "'; there are:" + known);
  }
  const cuda::DeviceGuard guard(options.device);
  nlohmann::ordered_json figures = {{"subcommand", "frame"},
                                    {"device", device.name},
                                    {"motion_kernel", options.kernel},
                                    {"lanes", options.lanes},
                                    {"results", nlohmann::ordered_json::array()}};
  std::printf(
      "%s, motion kernel %s, %d lane(s) a launch; microseconds a frame; the download runs at the same time as other "
      "work\n",
      device.name.c_str(), options.kernel.c_str(), options.lanes);
  std::printf("%-12s %9s %9s %9s %9s %19s %9s %12s\n", "size", "motion", "code", "scan", "all",
              "p10..p90", "download", "coded bytes");
  for (const std::string& text : options.sizes) {
    const auto [width, height] = tools::require_size("--sizes", text);
    constexpr int kFrames = 8;
    const MemoryVideo video(width, height, frames_of(options.yuv, width, height, kFrames), kFrames);
    ResidentFrames resident({.width = width, .height = height}, video, options.lanes, options.kernel);
    const Sample all = time_graph(resident, kFrames, options, [&] {
      resident.search();
      resident.code();
      resident.write();
    });
    const double coded_bytes = resident.coded_bytes();
    const Sample motion = time_graph(resident, kFrames, options, [&] { resident.search(); });
    const Sample code = time_graph(resident, kFrames, options, [&] { resident.code(); });
    const Sample scan = time_graph(resident, kFrames, options, [&] { resident.write(); });
    const Sample download = time_graph(resident, kFrames, options, [&] { resident.download(); });
    std::printf("%-12s %9.2f %9.2f %9.2f %9.2f %9.2f..%8.2f %9.2f %12.0f\n", text.c_str(), motion.median,
                code.median, scan.median, all.median, all.low, all.high, download.median,
                coded_bytes);
    figures["results"].push_back({{"size", text},
                                  {"motion_us", to_json(motion)},
                                  {"code_us", to_json(code)},
                                  {"scan_us", to_json(scan)},
                                  {"all_us", to_json(all)},
                                  {"download_us", to_json(download)},
                                  {"coded_bytes", coded_bytes}});
  }
  write_figures(options.json, figures);
}

}  // namespace

tools::Subcommand frame_bench() {
  return bench_command<FrameBenchOptions>(
      "frame", "Measure all stages of a frame on the GPU, with the input in GPU memory",
      [](const FrameBenchOptions& options, const tools::Session&) { run(options); });
}

}  // namespace c63::bench
