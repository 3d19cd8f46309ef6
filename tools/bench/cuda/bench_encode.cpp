// c63bench encode: measures whole encodes on the GPU. Frames come from host memory, from GPU memory or from a file (--from).
// The speed is compared with the rates, in the same run, of the bus and of reading the frames.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/cuda/probes.h"
#include "bench/video.h"
#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/encoder.h"
#include "c63/error.h"
#include "c63/thread_pool.h"
#include "common/backends.h"
#include "common/values.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {
namespace {

/// A video in each place from which an encode can read it: memory, page-locked memory, device, file. A copy is made at
/// its first use.
class Places {
 public:
  Places(const Options& options, int width, int height, ThreadPool& pool)
      : pool_(pool), length_(static_cast<std::int64_t>(options.gops) * options.key_interval), video_(made(options, width, height)) {}

  FrameSource& source(const std::string& from) {
    video_.offer({});
    if (from == "page-locked") {
      video_.offer(copy_to(page_locked_));
    } else if (from == "device") {
      video_.offer(copy_to(device_), false);
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
    if (!known) known = {measure_reading(source(from), pool_), measure_feeding(source(from), pool_, devices)};
    return known;
  }

 private:
  MemoryVideo made(const Options& options, int width, int height) const {
    const int kept = 48;
    const std::vector<std::uint8_t> frames = frames_of(options.yuv, width, height, options.yuv.empty() ? 8 : kept);
    return {width, height, repeated(frames, frame_bytes(width, height), std::size_t{1} << 30), length_};
  }

  /// Returns a copy of the frames. The buffer is filled at the first call.
  std::span<const std::uint8_t> copy_to(auto& buffer) const {
    if (buffer.size() == 0) {
      buffer = std::remove_reference_t<decltype(buffer)>(video_.memory().size());
      const cuda::Stream stream;
      cuda::copy_async(buffer.data(), video_.memory().data(), buffer.size(), stream);
      stream.synchronize();
    }
    return {buffer.data(), buffer.size()};
  }

  ThreadPool& pool_;
  std::int64_t length_;
  MemoryVideo video_;
  cuda::PinnedBuffer<std::uint8_t> page_locked_;
  cuda::DeviceBuffer<std::uint8_t> device_;
  std::optional<FileVideo> file_;
  std::optional<Rates> memory_rates_;
  std::optional<Rates> file_rates_;
};

}  // namespace

void bench_encode(const Options& options) {
  const auto pool = std::make_shared<ThreadPool>(options.threads);
  int queues = 0;  // number of the GPU's hardware queues for kernels; c63enc asks for that of its preset
  for (const std::string& preset : options.presets) queues = std::max(queues, tools::queues_for({.preset = *enum_from<Preset>(preset)}));
  tools::ask_for_queues(queues);
  const std::vector<int> devices = options.devices.empty() ? std::vector<int>{0} : options.devices;
  if (devices.size() > 1 && std::ranges::count(options.from, "device") > 0) {
    throw Error(ErrorKind::usage, "C63-BENCH-FROM", "--from device needs a single GPU: other GPUs cannot use frames in its memory");
  }
  const cuda::DeviceInfo& device = cuda::require_device(devices.front());
  cuda::check(cudaSetDevice(devices.front()), "cudaSetDevice");
  const BusRates buses = measure_buses(devices);
  Report report("encode", options, {{"size", "size", -10}, {"preset", "preset", -9}, {"from", "from", -11}, {"lanes", "lanes", 5},
                                    {"launch", "launch", -6}, {"frames", "frames", 7}, {"cores", "cores", 5, 2},
                                    {"frames_per_s/median", "frames/s", 9, 0}, {"frames_per_s/p10", "10 %", 9, 0}, {"frames_per_s/p90", "90 %", 9, 0},
                                    {"bytes_per_s", "GB/s", 6, 1, 1e-9}, {"share_of_ceiling", "ceiling", 7, 0, 100, " %"},
                                    {"start_up_ms", "start ms", 8, 1}, {"upload_us", "upload us", 9, 1}, {"motion_us", "motion us", 9, 1},
                                    {"code_us", "code us", 9, 1}, {"scan_us", "scan us", 9, 1}});
  report.about().update({{"device", device.name},
                         {"devices", options.devices},
                         {"threads", pool->concurrency()},
                         {"motion_kernel", options.kernel},
                         {"qp", options.qp},
                         {"upload", options.upload},
                         {"tune", options.tune},
                         {"bus_bytes_per_s", buses.together},
                         {"bus_alone_bytes_per_s", buses.alone}});
  report.print_titles();

  const auto encode = [&](const std::string& size, const std::string& preset, Places& places, const std::string& from, int lanes,
                          const std::string& launch) {
    const std::optional<Places::Rates> host = places.rates(from, devices);
    FrameSource& video = places.source(from);
    EncoderSettings settings{.coding = {.width = video.format().width, .height = video.format().height}};
    settings.coding.key_interval = options.key_interval;
    settings.coding.preset = *enum_from<Preset>(preset);
    settings.coding.search_range = search_range_of(settings.coding.preset);
    if (settings.coding.preset != Preset::reference && options.tune == "ssim") settings.coding.rate.tune = Tune::ssim;
    settings.coding.qp = options.qp;
    settings.execution.lanes = lanes;
    settings.execution.limits.max_memory = std::uint64_t{64} << 30;  // enough for the requested number of lanes
    settings.execution.pool = pool;
    cuda::CudaBackendOptions backend;
    backend.devices = options.devices;
    backend.motion_kernel = options.kernel;
    if (options.upload == "pair") backend.upload = cuda::UploadMode::pair;
    backend.graphs = launch != "stream";
    std::vector<double> start_up;
    std::vector<double> cores;  // CPU time of all threads divided by the time of the encode
    StageTimes times;
    EncodeSummary summary;
    const Sample seconds = measure(
        [&] {
          times = {};
          Encoder encoder(settings, cuda::make_backend_factories(backend));
          const std::clock_t start = std::clock();
          summary = encoder.encode(video, [&](EncodedFrame&& frame) { times += frame.statistics.times; });
          const double cpu_ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
          cores.push_back(cpu_ms / (summary.start_up_ms + summary.elapsed_ms));
          start_up.push_back(summary.start_up_ms);
          return summary.elapsed_ms * 1e-3;
        },
        options.repeats);
    start_up.erase(start_up.begin());  // the first run also opens the GPU's context
    const auto frames = static_cast<double>(summary.frames);
    const double bytes = frames / seconds.median * static_cast<double>(frame_bytes(settings.coding.width, settings.coding.height));
    const auto us = [&](double ms) { return ms * 1e3 / frames; };
    Json row = {{"size", size},   {"preset", preset}, {"from", from}, {"lanes", summary.lanes},
                {"launch", launch}, {"frames", summary.frames}, {"cores", summarize(cores).median},
                {"frames_per_s", seconds.rate(frames)}, {"bytes_per_s", bytes}};
    if (host) row.update({{"reading_bytes_per_s", host->reading}, {"feeding_bytes_per_s", host->feeding}});
    if (from != "device") {  // frames on the device cross no bus and need no host memory
      row["share_of_bus"] = bytes / buses.together;
      row["share_of_ceiling"] = bytes / (host ? std::min({buses.together, host->reading, host->feeding}) : buses.together);
    }
    row.update({{"coded_bytes", static_cast<double>(summary.bytes) / frames},
                {"start_up_ms", summarize(start_up).median},
                {"upload_us", us(times.upload)},
                {"read_us", us(times.read)},
                {"motion_us", us(times.motion)},
                {"code_us", us(times.transform)},
                {"scan_us", us(times.entropy)},
                {"download_us", us(times.download)}});
    report.add(std::move(row));
  };
  for (const std::string& text : options.sizes) {
    const auto [width, height] = tools::require_size("--sizes", text);
    Places places(options, width, height, *pool);
    for (const std::string& from : options.from) {
      for (const int lanes : options.lanes) {
        for (const std::string& launch : options.launch) {
          for (const std::string& preset : options.presets) encode(text, preset, places, from, lanes, launch);
        }
      }
    }
  }
  report.finish();
}

}  // namespace c63::bench
