// c63bench frame: what one frame takes on the device, stage by stage, when everything lies there already.

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_options.h"
#include "bench/benches.h"
#include "bench/cuda/yuv_video.h"
#include "bench/figures.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "common/exit_code.h"
#include "common/values.h"
#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/frame_stages.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

/// Chains that each hold a few frames of a video, and the work of coding one of them.
class ResidentFrames {
 public:
  ResidentFrames(int width, int height, const MemoryVideo& video, const FrameBenchOptions& options)
      : context_{.settings = {.coding = {.width = width, .height = height}},
                 .geometry = Geometry(width, height),
                 .layout = cuda::FrameLayout(Geometry(width, height)),
                 .keep = {},
                 .coded_capacity = cuda::usual_coded_capacity(Geometry(width, height))},
        search_(cuda::make_motion_search(*cuda::motion_kernel_from(options.kernel))),
        chains_(static_cast<std::size_t>(options.lanes)) {
    cuda::Carver device_size;
    cuda::Carver host_size;
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      cuda::DeviceChain::carve(device_size, context_);
      cuda::HostChain::carve(host_size, context_);
    }
    device_memory_ = cuda::DeviceBuffer<std::byte>(device_size.used());
    host_memory_ = cuda::PinnedBuffer<std::byte>(host_size.used());
    cuda::fill_async(device_memory_.data(), 0, device_memory_.bytes(), stream_);
    cuda::Carver device(device_memory_.data());
    cuda::Carver host(host_memory_.data());
    const cuda::QuantizerTable table = cuda::make_quantizer_table(make_quantization_tables(25));
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      chains_[i].device = cuda::DeviceChain::carve(device, context_);
      chains_[i].host = cuda::HostChain::carve(host, context_);
      for (std::size_t k = 0; k < cuda::kChainDepth; ++k) {
        const cuda::DeviceChain::Input& input = chains_[i].device.inputs[k];
        const auto frame = video.frame(static_cast<std::int64_t>(k + i));
        const std::uint8_t* from = frame.data();
        for (int p = 0; p < kPlanes; ++p) {
          cuda::copy_async(input.picture + context_.layout.offset[p], from, context_.layout.coded[p], stream_);
          from += context_.layout.coded[p];
        }
        cuda::copy_async(input.quantizers, table.data(), table.size(), stream_);
        stream_.synchronize();
      }
    }
  }

  [[nodiscard]] const cuda::Stream& stream() const { return stream_; }

  /// Frame `index` of all chains; frame 0 is a key frame.
  void choose(int index) {
    jobs_.clear();
    searches_.clear();
    const cuda::FrameRole role{.key = index == 0, .reconstruction = index % 2};
    for (const cuda::Chain& chain : chains_) {
      jobs_.push_back(cuda::job_of(context_, chain, index % cuda::kChainDepth, index % 2, role));
      if (!role.key) cuda::add_searches(context_, jobs_.back(), searches_);
    }
  }
  void search() {
    if (!searches_.empty()) search_->enqueue(searches_, stream_);
  }
  void code() { cuda::enqueue_coding(context_.layout, jobs_, stream_); }
  /// As frames with blocks without a vector are coded: with levels kept in between.
  void code_in_two_steps() {
    cuda::enqueue_transform(context_.layout, jobs_, stream_);
    cuda::enqueue_codes(context_.layout, jobs_, stream_);
  }
  void write() { cuda::enqueue_scan_writing(context_.layout, jobs_, stream_); }
  void download() { cuda::enqueue_scan_download(jobs_, stream_); }

  [[nodiscard]] double coded_bytes() const {
    double bytes = 0;
    for (const cuda::Chain& chain : chains_) bytes += static_cast<double>(chain.host.outputs[1].report->scan_bytes);
    return bytes / static_cast<double>(chains_.size());
  }

 private:
  cuda::CodingContext context_;
  cuda::Stream stream_;
  std::unique_ptr<cuda::MotionSearch> search_;
  cuda::DeviceBuffer<std::byte> device_memory_;
  cuda::PinnedBuffer<std::byte> host_memory_;
  std::vector<cuda::Chain> chains_;
  std::vector<cuda::FrameJob> jobs_;
  std::vector<cuda::MotionJob> searches_;
};

/// Microseconds a frame of a graph of `frames` inter frames, all lanes each; `enqueue` puts one on the stream.
template <typename Enqueue>
Sample time_graph(ResidentFrames& resident, int frames, const FrameBenchOptions& options, Enqueue&& enqueue) {
  resident.choose(0);
  resident.code();
  resident.write();
  constexpr int kCallsToChoose = 6;  // a motion kernel that chooses by times takes them before the graph is captured
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
    throw Error(ErrorKind::usage, "C63-BENCH-KERNEL", "there is no motion kernel '" + options.kernel + "'");
  }
  const cuda::DeviceGuard guard(options.device);
  nlohmann::ordered_json figures = {{"subcommand", "frame"},
                                    {"device", device.name},
                                    {"motion_kernel", options.kernel},
                                    {"lanes", options.lanes},
                                    {"results", nlohmann::ordered_json::array()}};
  std::printf("%s, motion kernel %s, %d lane(s) a launch; microseconds a frame; the download runs beside other work\n",
              device.name.c_str(), options.kernel.c_str(), options.lanes);
  std::printf("%-12s %9s %9s %9s %9s %9s %19s %9s %12s\n", "size", "motion", "code", "two steps", "scan", "all",
              "p10..p90", "download", "coded bytes");
  for (const std::string& text : options.sizes) {
    const auto [width, height] = tools::require_size("--sizes", text);
    constexpr int kFrames = 8;
    const MemoryVideo video(
        width, height,
        options.yuv.empty() ? natural_frames(width, height, kFrames) : read_frames(options.yuv, width, height, kFrames),
        kFrames);
    ResidentFrames resident(width, height, video, options);
    const Sample all = time_graph(resident, kFrames, options, [&] {
      resident.search();
      resident.code();
      resident.write();
    });
    const double coded_bytes = resident.coded_bytes();
    const Sample motion = time_graph(resident, kFrames, options, [&] { resident.search(); });
    const Sample code = time_graph(resident, kFrames, options, [&] { resident.code(); });
    const Sample two_steps = time_graph(resident, kFrames, options, [&] { resident.code_in_two_steps(); });
    const Sample scan = time_graph(resident, kFrames, options, [&] { resident.write(); });
    const Sample download = time_graph(resident, kFrames, options, [&] { resident.download(); });
    std::printf("%-12s %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f..%8.2f %9.2f %12.0f\n", text.c_str(), motion.median,
                code.median, two_steps.median, scan.median, all.median, all.low, all.high, download.median, coded_bytes);
    figures["results"].push_back({{"size", text},
                                  {"motion_us", to_json(motion)},
                                  {"code_us", to_json(code)},
                                  {"code_in_two_steps_us", to_json(two_steps)},
                                  {"scan_us", to_json(scan)},
                                  {"all_us", to_json(all)},
                                  {"download_us", to_json(download)},
                                  {"coded_bytes", coded_bytes}});
  }
  write_figures(options.json, figures);
}

}  // namespace

tools::Subcommand frame_bench() {
  const auto options = std::make_shared<FrameBenchOptions>();
  return {.name = "frame",
          .description = "Measure all stages of a frame on the GPU, input resident",
          .add_options = [options](CLI::App& app) { add_options(app, *options); },
          .run =
              [options](const tools::Session&) {
                run(*options);
                return tools::kExitDone;
              }};
}

}  // namespace c63::bench
