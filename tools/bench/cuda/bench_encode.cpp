// c63bench encode: measures whole encodes on the GPU. Frames come from host memory, from GPU memory or from a file (--from).
// The speed is compared with the rates, in the same run, of the bus and of reading the frames.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/bench_command.h"
#include "bench/benches.h"
#include "bench/cuda/bus_probe.h"
#include "bench/cuda/host_probe.h"
#include "bench/cuda/yuv_video.h"
#include "bench/figures.h"
#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "c63/thread_arena.h"
#include "common/backends.h"
#include "common/cuda_environment.h"
#include "common/values.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

/// Keeps memory page-locked for as long as the object lives.
class PageLock {
 public:
  explicit PageLock(std::span<const std::uint8_t> memory) : memory_(const_cast<std::uint8_t*>(memory.data())) {
    cuda::check(cudaHostRegister(memory_, memory.size(), cudaHostRegisterPortable), "cudaHostRegister");
  }
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;
  ~PageLock() { cuda::drop_error(cudaHostUnregister(memory_)); }

 private:
  void* memory_;
};

/// A video in each place from which an encode can read it: memory, page-locked memory, device, file. A copy, or the
/// locking of the memory, is made at its first use.
class Places {
 public:
  Places(const EncodeBenchOptions& options, int width, int height, ThreadArena& arena)
      : arena_(arena), length_(static_cast<std::int64_t>(options.gops) * options.key_interval), video_(made(options, width, height)) {}

  FrameSource& source(const std::string& from) {
    video_.offer({});
    if (from == "page-locked") {
      if (!lock_) lock_.emplace(video_.memory());
      video_.offer(video_.memory());
    } else if (from == "device") {
      if (device_.size() == 0) {
        device_ = cuda::DeviceBuffer<std::uint8_t>(video_.memory().size());
        const cuda::Stream stream;
        cuda::copy_async(device_.data(), video_.memory().data(), device_.size(), stream);
        stream.synchronize();
      }
      video_.offer({device_.data(), device_.size()}, false);
    } else if (from == "file") {
      if (!file_) file_.emplace(video_, length_);
      return *file_;
    }
    return video_;
  }

  /// Rates for frames in one of the places, in bytes per second. `reading`: all threads read the frames. `feeding`: threads
  /// read them, and GPUs fetch them at the same time.
  struct Rates {
    double reading;
    double feeding;
  };

  /// Returns the rates for frames in the place `from`. Returns nothing if the GPUs read the frames from there without
  /// the CPU's help.
  std::optional<Rates> rates(const std::string& from, std::span<const int> devices) {
    if (from == "page-locked" || from == "device") return std::nullopt;
    std::optional<Rates>& known = from == "file" ? file_rates_ : memory_rates_;
    if (!known) known = {measure_reading(source(from), arena_), measure_feeding(source(from), arena_, devices)};
    return known;
  }

 private:
  MemoryVideo made(const EncodeBenchOptions& options, int width, int height) const {
    const int kept = 48;
    const std::vector<std::uint8_t> frames =
        options.yuv.empty() ? natural_frames(width, height, 8) : read_frames(options.yuv, width, height, kept);
    return {width, height, repeated(frames, frame_bytes(width, height), std::size_t{1} << 30), length_};
  }

  ThreadArena& arena_;
  std::int64_t length_;
  MemoryVideo video_;
  std::optional<PageLock> lock_;
  cuda::DeviceBuffer<std::uint8_t> device_;
  std::optional<FileVideo> file_;
  std::optional<Rates> memory_rates_;
  std::optional<Rates> file_rates_;
};

class EncodeBench {
 public:
  explicit EncodeBench(const EncodeBenchOptions& options)
      : options_(options), arena_(std::make_shared<ThreadArena>(options.threads)) {
    int queues = 0;  // number of the GPU's hardware queues for kernels; c63enc asks for that of its preset
    for (const std::string& preset : options.presets) queues = std::max(queues, tools::queues_for({.preset = *preset_from(preset)}));
    tools::ask_for_queues(queues);
    devices_ = options.devices.empty() ? std::vector<int>{0} : options.devices;
    if (devices_.size() > 1 && std::ranges::count(options.from, "device") > 0) {
      throw Error(ErrorKind::usage, "C63-BENCH-FROM",
                  "--from device needs a single GPU: other GPUs cannot use frames in its memory");
    }
    const cuda::DeviceInfo& device = cuda::require_device(devices_.front());
    cuda::check(cudaSetDevice(devices_.front()), "cudaSetDevice");
    buses_ = measure_buses(devices_);
    figures_ = {{"subcommand", "encode"},
                {"device", device.name},
                {"devices", options.devices},
                {"threads", arena_->concurrency()},
                {"motion_kernel", options.kernel},
                {"qp", options.qp},
                {"upload", options.upload},
                {"tune", options.tune},
                {"bus_bytes_per_s", buses_.together},
                {"bus_alone_bytes_per_s", buses_.alone},
                {"results", nlohmann::ordered_json::array()}};
    std::printf("%s, bus %.1f GB/s up, ", device.name.c_str(), buses_.alone * 1e-9);
    if (devices_.size() > 1) std::printf("%zu of them together %.1f, ", devices_.size(), buses_.together * 1e-9);
    std::printf("motion kernel %s, %d threads\n", options.kernel.c_str(), arena_->concurrency());
    std::printf("%-12s %-10s %-11s %6s %6s %8s %10s %19s %8s %8s %9s  %s\n", "size", "preset", "from", "lanes", "launch",
                "frames", "frames/s", "p10..p90", "GB/s", "ceiling", "start ms", "us a frame: upload motion code scan");
  }

  void run() {
    for (const std::string& text : options_.sizes) {
      const auto [width, height] = tools::require_size("--sizes", text);
      Places places(options_, width, height, *arena_);
      for (const std::string& from : options_.from) {
        for (const int lanes : options_.lanes) {
          for (const std::string& launch : options_.launch) {
            for (const std::string& preset : options_.presets) measure(text, preset, places, from, lanes, launch);
          }
        }
      }
    }
    write_figures(options_.json, figures_);
  }

 private:
  void measure(const std::string& size, const std::string& preset, Places& places, const std::string& from, int lanes,
               const std::string& launch) {
    const std::optional<Places::Rates> host = places.rates(from, devices_);
    FrameSource& video = places.source(from);
    EncoderSettings settings{.coding = {.width = video.format().width, .height = video.format().height}};
    settings.coding.key_interval = options_.key_interval;
    settings.coding.preset = *preset_from(preset);
    settings.coding.search_range = search_range_of(settings.coding.preset);
    if (settings.coding.preset != Preset::reference && options_.tune == "ssim") settings.coding.rate.tune = Tune::ssim;
    settings.coding.qp = options_.qp;
    settings.execution.lanes = lanes;
    settings.execution.limits.max_memory = std::uint64_t{64} << 30;  // enough for the requested number of lanes
    settings.execution.arena = arena_;
    cuda::CudaBackendOptions backend;
    backend.devices = options_.devices;
    backend.motion_kernel = options_.kernel;
    if (options_.upload == "pair") backend.upload = cuda::UploadMode::pair;
    backend.graphs = launch != "stream";
    std::vector<double> rates;
    std::vector<double> start_up;
    StageTimes times;
    EncodeSummary summary;
    for (int i = 0; i < options_.repeats + 1; ++i) {
      times = {};
      Encoder encoder(settings, cuda::make_backend_factories(backend));
      summary = encoder.encode(video, [&](EncodedFrame&& frame) { times += frame.statistics.times; });
      if (i == 0) continue;  // the first run also opens the GPU's context
      rates.push_back(static_cast<double>(summary.frames) / (summary.elapsed_ms * 1e-3));
      start_up.push_back(summary.start_up_ms);
    }
    const Sample fps = summarize(rates);
    const double bytes = fps.median * static_cast<double>(frame_bytes(settings.coding.width, settings.coding.height));
    // Frames on the device cross no bus and need no host memory.
    const bool uploaded = from != "device";
    double ceiling = uploaded ? buses_.together : 0;
    if (host) ceiling = std::min({ceiling, host->reading, host->feeding});
    const auto us = [&](double ms) { return ms * 1e3 / static_cast<double>(summary.frames); };
    const double opened = summarize(start_up).median;
    const std::string share = uploaded ? std::to_string(std::lround(bytes / ceiling * 100)) + " %" : "-";
    std::printf("%-12s %-10s %-11s %6d %6s %8lld %10.0f %9.0f..%8.0f %8.1f %8s %9.1f  %.1f %.1f %.1f %.1f\n", size.c_str(),
                preset.c_str(), from.c_str(), summary.lanes, launch.c_str(), static_cast<long long>(summary.frames), fps.median,
                fps.low, fps.high, bytes * 1e-9, share.c_str(), opened, us(times.upload), us(times.motion),
                us(times.transform), us(times.entropy));
    std::fflush(stdout);
    nlohmann::ordered_json row = {{"size", size},
                                  {"preset", preset},
                                  {"from", from},
                                  {"lanes", summary.lanes},
                                  {"launch", launch},
                                  {"frames", summary.frames},
                                  {"frames_per_s", to_json(fps)}};
    if (host) row.update({{"reading_bytes_per_s", host->reading}, {"feeding_bytes_per_s", host->feeding}});
    if (uploaded) {
      row["share_of_bus"] = bytes / buses_.together;
      row["share_of_ceiling"] = bytes / ceiling;
    }
    row.update({{"coded_bytes", static_cast<double>(summary.bytes) / static_cast<double>(summary.frames)},
                {"start_up_ms", opened},
                {"upload_us", us(times.upload)},
                {"read_us", us(times.read)},
                {"motion_us", us(times.motion)},
                {"code_us", us(times.transform)},
                {"scan_us", us(times.entropy)},
                {"download_us", us(times.download)}});
    figures_["results"].push_back(std::move(row));
    write_figures_so_far(options_.json, figures_);
  }

  const EncodeBenchOptions& options_;
  std::shared_ptr<ThreadArena> arena_;
  std::vector<int> devices_;
  BusRates buses_;
  nlohmann::ordered_json figures_;
};

}  // namespace

tools::Subcommand encode_bench() {
  return bench_command<EncodeBenchOptions>("encode", "Measure whole encodes on the GPU",
                                           [](EncodeBenchOptions& options, const tools::Session& session) {
                                             options.threads = session.common.threads;
                                             EncodeBench(options).run();
                                           });
}

}  // namespace c63::bench
