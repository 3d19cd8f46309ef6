#include <algorithm>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "cuda_me/lane_group.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {
namespace {

/// Lanes for which a device's batch is worth its launches: enough MCUs to fill it several times over (docs/gpu.md).
int preferred_lanes_per_device(const Geometry& geometry) {
  constexpr std::int64_t kMcusPerBatch = 65536;
  constexpr std::int64_t kFewest = 4;
  constexpr std::int64_t kMost = 32;
  return static_cast<int>(std::clamp((kMcusPerBatch + geometry.mcus() - 1) / geometry.mcus(), kFewest, kMost));
}

Keep keep_of(const EncoderSettings& settings, const CudaBackendOptions& options) {
  return {.reconstruction = settings.measurement.keep_reconstruction || settings.measurement.ssim,
          .prediction = settings.measurement.keep_prediction,
          .original = settings.measurement.ssim,
          .motion = settings.measurement.keep_motion,
          .levels = options.entropy == EntropyCoder::cpu,
          .host_reference = options.upload == UploadMode::pair};
}

std::size_t coded_capacity(const Geometry& geometry, const CudaBackendOptions& options) {
  return options.coded_capacity > 0 ? options.coded_capacity : usual_coded_capacity(geometry);
}

/// Of the lanes of a device, at most so many share launches.
int lanes_per_batch(const CudaBackendOptions& options, int lanes) {
  const int wanted = options.launch == LaunchMode::graph ? 1 : options.lanes_per_batch;
  return std::clamp(wanted > 0 ? wanted : lanes, 1, lanes);
}

std::size_t lane_bytes(const EncoderSettings& settings, const CudaBackendOptions& options) {
  Carver carver;
  const Geometry geometry(settings.coding.width, settings.coding.height);
  const Keep keep = keep_of(settings, options);
  DeviceLane::carve(carver, FrameLayout(geometry), keep, coded_capacity(geometry, options));
  const bool graphs =
      options.launch == LaunchMode::graph || (options.launch == LaunchMode::automatic && settings.execution.lanes == 1);
  return carver.used() + (graphs && !keep.any() ? kGraphBytes : 0);
}

std::vector<int> devices_of(const CudaBackendOptions& options) {
  if (!options.devices.empty()) {
    for (const int device : options.devices) static_cast<void>(require_device(device));
    return options.devices;
  }
  // One after another, so that no more are opened than are needed.
  const auto count = static_cast<int>(listed_devices().devices.size());
  for (int device = 0; device + 1 < count; ++device) {
    try {
      return {require_device(device).index};
    } catch (const Error&) {
    }
  }
  return {require_device(std::max(0, count - 1)).index};  // or throws, and says why
}

MotionKernel kernel_of(const CudaBackendOptions& options) {
  if (const auto kernel = motion_kernel_from(options.motion_kernel)) return *kernel;
  std::string known;
  for (const std::string& name : motion_kernel_names()) known += (known.empty() ? "" : ", ") + name;
  throw Error(ErrorKind::usage, "C63-CUDA-KERNEL",
              "there is no motion kernel '" + options.motion_kernel + "'; there are " + known);
}

class CudaBackend final : public Backend {
 public:
  CudaBackend(const EncoderSettings& settings, const CudaBackendOptions& options, int max_lanes)
      : devices_(devices_of(options)) {
    const Geometry geometry(settings.coding.width, settings.coding.height);
    const MotionKernel kernel = kernel_of(options);
    const auto device_count = static_cast<int>(devices_.size());
    int lanes = settings.execution.lanes > 0 ? settings.execution.lanes : preferred_lanes_per_device(geometry) * device_count;
    lanes = std::clamp(lanes, 1, std::max(1, max_lanes));
    for (;;) {
      try {
        open(settings, options, kernel, geometry, lanes);
        return;
      } catch (const Error& error) {
        groups_.clear();
        if (error.kind() != ErrorKind::memory) throw;
        if (lanes == 1) {
          throw Error(ErrorKind::device, "C63-CUDA-MEMORY",
                      "not even one lane of " + std::to_string(lane_bytes(settings, options)) +
                          " bytes fits in the device's memory: " + error.message());
        }
        lanes /= 2;
      }
    }
  }

  [[nodiscard]] std::string description() const override {
    std::string text;
    for (const int device : devices_) {
      const DeviceInfo& info = require_device(device);
      if (!text.empty()) text += ", ";
      text += "cuda:" + std::to_string(info.number) + " " + info.name + " (sm_" + std::to_string(info.compute_major) +
              std::to_string(info.compute_minor) + ")";
    }
    return text;
  }
  [[nodiscard]] int lanes() const override { return static_cast<int>(lanes_.size()); }
  [[nodiscard]] int depth() const override { return kLaneDepth; }

  [[nodiscard]] std::span<std::uint8_t> input(int lane) override {
    const LanePlace& place = lanes_[static_cast<std::size_t>(lane)];
    return groups_[place.group].group->input(place.lane);
  }

  [[nodiscard]] bool takes(std::span<const std::uint8_t> in_place) const override {
    const DeviceGuard guard(groups_.front().device);  // asking opens the thread's device
    return is_page_locked(in_place);
  }

  [[nodiscard]] int parallelism() const override { return feeders(); }
  [[nodiscard]] bool needs_collector() const override { return true; }
  [[nodiscard]] int feeders() const override { return static_cast<int>(std::min(devices_.size(), groups_.size())); }

  [[nodiscard]] int inputs() const override {
    int least = groups_.front().group->inputs();
    for (const OpenGroup& open : groups_) least = std::min(least, open.group->inputs());
    return least;
  }
  void discard_input(int lane) override {
    const LanePlace& place = lanes_[static_cast<std::size_t>(lane)];
    groups_[place.group].group->discard_input(place.lane);
  }

  void submit(std::span<const LaneFrame> frames) override {
    std::vector<bool> touched(groups_.size());
    for (const LaneFrame& frame : frames) touched[lanes_[static_cast<std::size_t>(frame.lane)].group] = true;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!touched[g]) continue;
      const DeviceGuard guard(groups_[g].device);
      for (const LaneFrame& frame : frames) {
        const LanePlace& place = lanes_[static_cast<std::size_t>(frame.lane)];
        if (place.group == g) groups_[g].group->add(place.lane, frame);
      }
      groups_[g].group->submit();
    }
  }

  [[nodiscard]] bool ready(int feeder) override {
    std::deque<LaneResult>& finished = finished_[static_cast<std::size_t>(feeder)];
    if (finished.empty()) look(feeder, finished);
    return !finished.empty();
  }

  [[nodiscard]] LaneResult collect(int feeder) override {
    while (!ready(feeder)) std::this_thread::yield();
    std::deque<LaneResult>& finished = finished_[static_cast<std::size_t>(feeder)];
    LaneResult result = std::move(finished.front());
    finished.pop_front();
    return result;
  }

 private:
  struct LanePlace {
    std::size_t group = 0;
    int lane = 0;
  };
  struct OpenGroup {
    int device = 0;
    std::unique_ptr<LaneGroup> group;
  };

  /// Takes what a feeder's device has finished, and gives it more to do.
  void look(int feeder, std::deque<LaneResult>& finished) {
    const DeviceGuard guard(groups_[static_cast<std::size_t>(feeder)].device);
    for (auto g = static_cast<std::size_t>(feeder); g < groups_.size(); g += static_cast<std::size_t>(feeders())) {
      groups_[g].group->take_finished(finished);
    }
  }

  void open(const EncoderSettings& settings, const CudaBackendOptions& options, MotionKernel kernel,
            const Geometry& geometry, int lanes) {
    const auto device_count = static_cast<int>(devices_.size());
    const int most = (lanes + device_count - 1) / device_count;  // of a device
    const int per_batch = lanes_per_batch(options, most);
    const int groups_per_device = (most + per_batch - 1) / per_batch;
    const int group_count = std::min(lanes, groups_per_device * device_count);
    // Lane by lane to all groups in turn, so that few lanes are spread over the devices, and every device has a feeder.
    std::vector<LaneGroupPlan> plans(static_cast<std::size_t>(group_count));
    lanes_.clear();
    for (int lane = 0; lane < lanes; ++lane) {
      const auto group = static_cast<std::size_t>(lane % group_count);
      lanes_.push_back({group, static_cast<int>(plans[group].lanes.size())});
      plans[group].lanes.push_back(lane);
    }
    std::vector<std::future<std::vector<OpenGroup>>> opened;
    for (int d = 0; d < device_count && d < group_count; ++d) {
      opened.push_back(std::async(device_count > 1 ? std::launch::async : std::launch::deferred, [&, d] {
        std::vector<OpenGroup> groups;
        const DeviceGuard guard(devices_[static_cast<std::size_t>(d)]);
        for (int g = d; g < group_count; g += device_count) {
          LaneGroupPlan& plan = plans[static_cast<std::size_t>(g)];
          plan.device = devices_[static_cast<std::size_t>(d)];
          plan.stream_index = g;
          plan.motion_kernel = kernel;
          plan.keep = keep_of(settings, options);
          plan.coded_capacity = coded_capacity(geometry, options);
          plan.graphs = options.launch == LaunchMode::graph || (options.launch == LaunchMode::automatic && most == 1);
          groups.push_back({plan.device, std::make_unique<LaneGroup>(settings, plan)});
        }
        return groups;
      }));
    }
    groups_.clear();
    groups_.resize(static_cast<std::size_t>(group_count));
    std::exception_ptr fault;
    for (int d = 0; d < static_cast<int>(opened.size()); ++d) {
      try {
        std::vector<OpenGroup> groups = opened[static_cast<std::size_t>(d)].get();
        for (std::size_t i = 0; i < groups.size(); ++i) {
          groups_[static_cast<std::size_t>(d) + i * static_cast<std::size_t>(device_count)] = std::move(groups[i]);
        }
      } catch (...) {
        fault = std::current_exception();
      }
    }
    if (fault) std::rethrow_exception(fault);
    finished_.resize(static_cast<std::size_t>(feeders()));
  }

  std::vector<int> devices_;
  std::vector<OpenGroup> groups_;  ///< group g is on device g modulo the number of devices
  std::vector<LanePlace> lanes_;
  std::vector<std::deque<LaneResult>> finished_;  ///< by feeder
};

}  // namespace

std::vector<std::string> motion_kernel_names() {
  std::vector<std::string> names;
  for (const MotionKernelInfo& info : motion_kernels()) names.emplace_back(info.name);
  return names;
}

std::size_t device_bytes_per_lane(const EncoderSettings& settings, const CudaBackendOptions& options) {
  return lane_bytes(settings, options);
}

std::size_t host_bytes_per_device(const EncoderSettings& settings, int lanes, const CudaBackendOptions& options) {
  const Geometry geometry(settings.coding.width, settings.coding.height);
  const FrameLayout layout(geometry);
  Carver carver;
  for (int lane = 0; lane < lanes; ++lane) {
    HostLane::carve(carver, geometry, layout, keep_of(settings, options), coded_capacity(geometry, options));
  }
  const int per_batch = lanes_per_batch(options, lanes);
  for (int lane = 0; lane < lanes; lane += per_batch) {
    const int frames = staging_frames(geometry, std::min(per_batch, lanes - lane));
    for (int i = 0; i < frames; ++i) carver.take<std::uint8_t>(geometry.frame_bytes());
  }
  return carver.used();
}

BackendFactory make_backend_factory(CudaBackendOptions options) {
  return [options = std::move(options)](const EncoderSettings& settings, int max_lanes) -> std::unique_ptr<Backend> {
    if (!is_exhaustive(settings.coding.method)) {
      throw Error(ErrorKind::device, "C63-CUDA-METHOD",
                  "search method " + std::string(name(settings.coding.method)) + " runs on the CPU only (--backend cpu)");
    }
    return std::make_unique<CudaBackend>(settings, options, max_lanes);
  };
}

}  // namespace c63::cuda
