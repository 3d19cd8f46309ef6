// c63bench encode: whole encodes on the GPU with frames from memory, against the bus of the same run.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/cuda/bus_probe.h"
#include "bench/cuda/yuv_video.h"
#include "bench/registry.h"
#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "common/cuda_environment.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"

namespace c63::bench {
namespace {

struct Options {
  std::vector<std::string> sizes = {"352x288", "1920x1080"};
  std::vector<int> lanes = {0, 1};
  std::vector<int> lanes_per_batch = {0};
  std::vector<int> devices = {};
  std::string kernel = "automatic";
  std::string entropy = "gpu";
  std::string upload = "frame";
  std::vector<std::string> launch = {"auto"};
  std::string yuv;
  std::vector<std::string> from = {"memory"};
  std::string json;
  int key_interval = 100;
  int gops = 16;
  int repeats = 5;
};

/// Makes memory page-locked for as long as this lives.
class PageLock {
 public:
  explicit PageLock(std::span<const std::uint8_t> memory) : memory_(const_cast<std::uint8_t*>(memory.data())) {
    cuda::check(cudaHostRegister(memory_, memory.size(), cudaHostRegisterPortable), "cudaHostRegister");
  }
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;
  ~PageLock() { cuda::check_release(cudaHostUnregister(memory_), "cudaHostUnregister"); }

 private:
  void* memory_;
};

class EncodeBench {
 public:
  explicit EncodeBench(const Options& options) : options_(options) {
    // As c63enc does it; a stream for every lane needs more.
    if (std::ranges::find(options.launch, "graph") == options.launch.end()) tools::ask_for_queues(2);
    const std::vector<int> devices = options.devices.empty() ? std::vector<int>{0} : options.devices;
    const cuda::DeviceInfo& device = cuda::require_device(devices.front());
    buses_ = measure_buses(devices);
    figures_ = {{"subcommand", "encode"},
                {"device", device.name},
                {"devices", options.devices},
                {"motion_kernel", options.kernel},
                {"entropy", options.entropy},
                {"upload", options.upload},
                {"bus_bytes_per_s", buses_.together},
                {"bus_alone_bytes_per_s", buses_.alone},
                {"results", nlohmann::json::array()}};
    std::printf("%s, bus %.1f GB/s up, ", device.name.c_str(), buses_.alone * 1e-9);
    if (devices.size() > 1) std::printf("%zu of them together %.1f, ", devices.size(), buses_.together * 1e-9);
    std::printf("motion kernel %s\n", options.kernel.c_str());
    std::printf("%-12s %-11s %6s %6s %6s %8s %10s %19s %7s %9s  %s\n", "size", "from", "lanes", "batch", "launch",
                "frames", "frames/s", "p10..p90", "bus", "start ms", "us a frame: upload motion code scan");
  }

  void run() {
    for (const std::string& text : options_.sizes) {
      int width = 0;
      int height = 0;
      if (std::sscanf(text.c_str(), "%dx%d", &width, &height) != 2) {
        throw Error(ErrorKind::usage, "C63-BENCH-SIZE", "'" + text + "' is no size like 1920x1080");
      }
      const int kept = 48;
      const std::vector<std::uint8_t> frames =
          options_.yuv.empty() ? natural_frames(width, height, 8) : read_frames(options_.yuv, width, height, kept);
      MemoryVideo video(width, height, repeated(frames, frame_bytes(width, height), std::size_t{1} << 30),
                        static_cast<std::int64_t>(options_.gops) * options_.key_interval);
      std::optional<PageLock> lock;
      for (const std::string& from : options_.from) {
        video.offer_in_place(from == "page-locked");
        if (from == "page-locked" && !lock) lock.emplace(video.memory());
        for (const int lanes : options_.lanes) {
          for (const int batch : options_.lanes_per_batch) {
            for (const std::string& launch : options_.launch) measure(text, video, from, lanes, batch, launch);
          }
        }
      }
    }
    write_json(options_.json, figures_);
  }

 private:
  void measure(const std::string& size, MemoryVideo& video, const std::string& from, int lanes, int lanes_per_batch,
               const std::string& launch) {
    EncoderSettings settings{.coding = {.width = video.format().width, .height = video.format().height}};
    settings.coding.key_interval = options_.key_interval;
    settings.execution.lanes = lanes;
    cuda::CudaBackendOptions backend;
    backend.devices = options_.devices;
    backend.motion_kernel = options_.kernel;
    backend.lanes_per_batch = lanes_per_batch;
    if (options_.entropy == "cpu") backend.entropy = cuda::EntropyCoder::cpu;
    if (options_.upload == "pair") backend.upload = cuda::UploadMode::pair;
    if (launch == "stream") backend.launch = cuda::LaunchMode::stream;
    if (launch == "graph") backend.launch = cuda::LaunchMode::graph;
    std::vector<double> rates;
    std::vector<double> start_up;
    StageTimes times;
    EncodeSummary summary;
    for (int i = 0; i < options_.repeats + 1; ++i) {
      times = {};
      Encoder encoder(settings, cuda::make_backend_factories(backend));
      summary = encoder.encode(video, [&](EncodedFrame&& frame) { times += frame.statistics.times; });
      if (i == 0) continue;  // the context is opened once
      rates.push_back(static_cast<double>(summary.frames) / (summary.elapsed_ms * 1e-3));
      start_up.push_back(summary.start_up_ms);
    }
    const Sample fps = summarize(rates);
    const double share =
        fps.median * static_cast<double>(frame_bytes(settings.coding.width, settings.coding.height)) / buses_.together;
    const auto us = [&](double ms) { return ms * 1e3 / static_cast<double>(summary.frames); };
    const double opened = summarize(start_up).median;
    std::printf("%-12s %-11s %6d %6d %6s %8lld %10.0f %9.0f..%8.0f %6.1f%% %9.1f  %.1f %.1f %.1f %.1f\n", size.c_str(),
                from.c_str(), summary.lanes, lanes_per_batch, launch.c_str(), static_cast<long long>(summary.frames),
                fps.median, fps.low, fps.high, share * 100, opened, us(times.upload), us(times.motion),
                us(times.transform), us(times.entropy));
    std::fflush(stdout);
    figures_["results"].push_back({{"size", size},
                                   {"from", from},
                                   {"lanes", summary.lanes},
                                   {"lanes_per_batch", lanes_per_batch},
                                   {"launch", launch},
                                   {"frames", summary.frames},
                                   {"frames_per_s", to_json(fps)},
                                   {"share_of_bus", share},
                                   {"start_up_ms", opened},
                                   {"upload_us", us(times.upload)},
                                   {"read_us", us(times.read)},
                                   {"motion_us", us(times.motion)},
                                   {"code_us", us(times.transform)},
                                   {"scan_us", us(times.entropy)},
                                   {"download_us", us(times.download)}});
  }

  const Options& options_;
  BusRates buses_;
  nlohmann::json figures_;
};

void add_encode(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* encode = app.add_subcommand("encode", "whole encodes on the GPU, frames from memory");
  encode->add_option("--sizes", options->sizes, "WxH")->delimiter(',')->capture_default_str();
  encode->add_option("--lanes", options->lanes, "GOPs at the same time; 0: chosen")
      ->delimiter(',')
      ->capture_default_str();
  encode->add_option("--lanes-per-batch", options->lanes_per_batch, "lanes that share launches; 0: chosen")
      ->delimiter(',')
      ->capture_default_str();
  encode->add_option("--devices", options->devices, "GPUs")->delimiter(',');
  encode->add_option("--me-kernel", options->kernel, "motion kernel")->capture_default_str();
  encode->add_option("--entropy", options->entropy, "who writes the codes")->check(CLI::IsMember({"gpu", "cpu"}));
  encode->add_option("--upload", options->upload, "what is uploaded")->check(CLI::IsMember({"frame", "pair"}));
  encode->add_option("--launch", options->launch, "how work gets to the GPU")
      ->delimiter(',')
      ->check(CLI::IsMember({"auto", "stream", "graph"}))
      ->capture_default_str();
  encode->add_option("--yuv", options->yuv, "raw 4:2:0 file of the one size given instead of made content");
  encode
      ->add_option("--from", options->from, "memory, of which frames are copied, or page-locked, where GPUs take them")
      ->delimiter(',')
      ->check(CLI::IsMember({"memory", "page-locked"}))
      ->capture_default_str();
  encode->add_option("--keyint", options->key_interval, "frames a GOP")->capture_default_str();
  encode->add_option("--gops", options->gops, "GOPs")->capture_default_str();
  encode->add_option("--repeats", options->repeats, "timed encodes")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  encode->add_option("--json", options->json, "also write the figures there; - for stdout");
  encode->callback([options] { EncodeBench(*options).run(); });
}

const Registration registration(add_encode);

}  // namespace
}  // namespace c63::bench
