#include "bench/cuda/gpu_state.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cuda_me/runtime/check.h"

namespace c63::bench {
namespace {

// Constants from nvml.h, because c63 can be built without that header.
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;

struct Reason {
  unsigned long long bit;
  const char* name;
};
constexpr std::array kThrottling = {Reason{0x4, "power limit"}, Reason{0x8, "hardware slowdown"},
                                    Reason{0x20, "software thermal limit"}, Reason{0x40, "hardware thermal limit"},
                                    Reason{0x80, "power brake"}};

std::vector<std::string> names_of(unsigned long long reasons) {
  std::vector<std::string> names;
  for (const Reason& reason : kThrottling) {
    if ((reasons & reason.bit) != 0) names.emplace_back(reason.name);
  }
  return names;
}

}  // namespace

/// The functions of the library; null if it lacks them.
struct GpuState::Nvml {
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

  template <typename Function>
  [[nodiscard]] Function* find(const char* name) const {
    return library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
  }
  int (*const init)() = find<int()>("nvmlInit_v2");
  int (*const shutdown)() = find<int()>("nvmlShutdown");
  int (*const by_address)(const char*, void**) = find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
  int (*const clock)(void*, int, unsigned*) = find<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
  int (*const max_clock)(void*, int, unsigned*) = find<int(void*, int, unsigned*)>("nvmlDeviceGetMaxClockInfo");
  int (*const power)(void*, unsigned*) = find<int(void*, unsigned*)>("nvmlDeviceGetPowerUsage");
  int (*const power_limit)(void*, unsigned*) = find<int(void*, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
  int (*const temperature)(void*, int, unsigned*) = find<int(void*, int, unsigned*)>("nvmlDeviceGetTemperature");
  int (*const reasons)(void*, unsigned long long*) =
      find<int(void*, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  const bool is_begun = init != nullptr && by_address != nullptr && clock != nullptr && init() == 0;

  Nvml() = default;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (is_begun && shutdown != nullptr) shutdown();
    if (library != nullptr) ::dlclose(library);
  }
};

GpuState::GpuState(const std::string& pci_address) : nvml_(std::make_unique<Nvml>()) {
  if (!nvml_->is_begun || nvml_->by_address(pci_address.c_str(), &device_) != 0) {
    nvml_.reset();
    return;
  }
  if (nvml_->max_clock != nullptr) nvml_->max_clock(device_, kSmClock, &most_mhz_);
  if (nvml_->power_limit != nullptr) nvml_->power_limit(device_, &limit_milliwatts_);
}

GpuState::~GpuState() = default;

void GpuState::sample() {
  if (nvml_ == nullptr) return;
  unsigned mhz = 0;
  if (nvml_->clock(device_, kSmClock, &mhz) != 0) return;
  lowest_mhz_ = samples_ == 0 ? mhz : std::min(lowest_mhz_, mhz);
  highest_mhz_ = std::max(highest_mhz_, mhz);
  nvml_->clock(device_, kMemoryClock, &memory_mhz_);
  unsigned milliwatts = 0;
  if (nvml_->power != nullptr && nvml_->power(device_, &milliwatts) == 0)
    most_milliwatts_ = std::max(most_milliwatts_, milliwatts);
  unsigned celsius = 0;
  if (nvml_->temperature != nullptr && nvml_->temperature(device_, 0, &celsius) == 0)
    celsius_ = std::max(celsius_, celsius);
  unsigned long long reasons = 0;
  if (nvml_->reasons != nullptr && nvml_->reasons(device_, &reasons) == 0) reasons_ |= reasons;
  ++samples_;
}

std::string GpuState::text() const {
  if (samples_ == 0) return {};
  std::string text =
      fmt::format("clock {} to {} MHz of {}, memory {} MHz, up to {:.0f} W of {:.0f}, {} °C", lowest_mhz_, highest_mhz_,
                  most_mhz_, memory_mhz_, most_milliwatts_ * 1e-3, limit_milliwatts_ * 1e-3, celsius_);
  for (const std::string& name : names_of(reasons_)) text += "; THROTTLED by " + name;
  return text;
}

Json GpuState::to_json() const {
  if (samples_ == 0) return nullptr;
  return {{"sm_mhz", {lowest_mhz_, highest_mhz_}},
          {"sm_mhz_most", most_mhz_},
          {"memory_mhz", memory_mhz_},
          {"watts", most_milliwatts_ * 1e-3},
          {"watts_limit", limit_milliwatts_ * 1e-3},
          {"celsius", celsius_},
          {"throttled_by", names_of(reasons_)},
          {"samples", samples_}};
}

std::string pci_address_of_device() {
  int device = 0;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  std::array<char, 32> address{};
  cuda::check(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device), "cudaDeviceGetPCIBusId");
  return address.data();
}

}  // namespace c63::bench
