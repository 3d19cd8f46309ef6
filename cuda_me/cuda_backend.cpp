#include <algorithm>
#include <memory>
#include <optional>
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

/// The first device that can be used.
int first_device() {
  // One after another, so that no more are opened than are needed.
  const auto count = static_cast<int>(listed_devices().devices.size());
  for (int device = 0; device + 1 < count; ++device) {
    try {
      return require_device(device).index;
    } catch (const Error&) {
    }
  }
  return require_device(std::max(0, count - 1)).index;  // or throws, and says why
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
  CudaBackend(const EncoderSettings& settings, const CudaBackendOptions& options, std::optional<int> device, int number, int max_chains)
      : device_(device ? require_device(*device).index : first_device()) {
    const DeviceGuard guard(device_);
    const Geometry geometry(settings.coding.width, settings.coding.height);
    const MotionKernel kernel = kernel_of(options);
    int chains = settings.execution.lanes > 0 ? settings.execution.lanes : preferred_lanes_per_device(geometry);
    chains = std::clamp(chains, 1, std::max(1, max_chains));
    for (;;) {
      try {
        open(settings, options, kernel, geometry, chains);
        break;
      } catch (const Error& error) {
        groups_.clear();
        if (error.kind() != ErrorKind::memory) throw;
        if (chains == 1) {
          throw Error(ErrorKind::device, "C63-CUDA-MEMORY",
                      "not even one lane of " + std::to_string(lane_bytes(settings, options)) +
                          " bytes fits in the device's memory: " + error.message());
        }
        chains /= 2;
      }
    }
    const DeviceInfo& about = require_device(device_);
    info_.description = "cuda:" + std::to_string(device ? number : device_) + " " + about.name + " (sm_" +
                        std::to_string(about.compute_major) + std::to_string(about.compute_minor) + ")";
    info_.chains = chains;
    info_.depth = kLaneDepth;
    info_.inputs = groups_.front()->inputs();
    for (const auto& group : groups_) info_.inputs = std::min(info_.inputs, group->inputs());
  }

  ~CudaBackend() override {
    const DeviceGuard guard(device_);
    groups_.clear();
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }

  [[nodiscard]] std::span<std::uint8_t> input(int chain) override { return group_of(chain).input(lane_of(chain)); }
  void discard_input(int chain) override { group_of(chain).discard_input(lane_of(chain)); }

  [[nodiscard]] bool accepts(std::span<const std::uint8_t> in_place) const override {
    const DeviceGuard guard(device_);  // asking opens the thread's device
    return is_page_locked(in_place);
  }

  void submit(std::span<const ChainFrame> frames) override {
    const DeviceGuard guard(device_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      bool any = false;
      for (const ChainFrame& frame : frames) {
        if (static_cast<std::size_t>(frame.chain) % groups_.size() != g) continue;
        groups_[g]->add(lane_of(frame.chain), frame);
        any = true;
      }
      if (any) groups_[g]->submit();
    }
  }

  void collect(std::vector<ChainResult>& finished) override {
    const DeviceGuard guard(device_);
    for (;;) {
      for (const auto& group : groups_) group->take_finished(finished);
      if (!finished.empty()) return;
      std::this_thread::yield();
    }
  }

 private:
  // Chains go to all groups in turn.
  [[nodiscard]] LaneGroup& group_of(int chain) { return *groups_[static_cast<std::size_t>(chain) % groups_.size()]; }
  [[nodiscard]] int lane_of(int chain) const { return chain / static_cast<int>(groups_.size()); }

  void open(const EncoderSettings& settings, const CudaBackendOptions& options, MotionKernel kernel,
            const Geometry& geometry, int chains) {
    const int per_batch = lanes_per_batch(options, chains);
    std::vector<LaneGroupPlan> plans(static_cast<std::size_t>((chains + per_batch - 1) / per_batch));
    for (int chain = 0; chain < chains; ++chain) plans[static_cast<std::size_t>(chain) % plans.size()].lanes.push_back(chain);
    for (std::size_t g = 0; g < plans.size(); ++g) {
      LaneGroupPlan& plan = plans[g];
      plan.device = device_;
      plan.stream_index = static_cast<int>(g);
      plan.motion_kernel = kernel;
      plan.keep = keep_of(settings, options);
      plan.coded_capacity = coded_capacity(geometry, options);
      plan.graphs = options.launch == LaunchMode::graph || (options.launch == LaunchMode::automatic && chains == 1);
      groups_.push_back(std::make_unique<LaneGroup>(settings, plan));
    }
  }

  int device_;
  BackendInfo info_;
  std::vector<std::unique_ptr<LaneGroup>> groups_;
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

std::vector<BackendFactory> make_backend_factories(const CudaBackendOptions& options) {
  std::vector<std::optional<int>> devices(options.devices.begin(), options.devices.end());
  if (devices.empty()) devices.emplace_back();
  std::vector<BackendFactory> factories;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::optional<int> device = devices[i];
    const int number = i < options.numbers.size() ? options.numbers[i] : device.value_or(0);
    factories.emplace_back([options, device, number](const EncoderSettings& settings, int max_chains) -> std::unique_ptr<Backend> {
      if (!is_exhaustive(settings.coding.method)) {
        throw Error(ErrorKind::device, "C63-CUDA-METHOD",
                    "search method " + std::string(name(settings.coding.method)) + " runs on the CPU only (--backend cpu)");
      }
      return std::make_unique<CudaBackend>(settings, options, device, number, max_chains);
    });
  }
  return factories;
}

}  // namespace c63::cuda
