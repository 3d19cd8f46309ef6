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

struct GpuState::Nvml {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_address)(const char*, void**) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*max_clock)(void*, int, unsigned*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*power_limit)(void*, unsigned*) = nullptr;
  int (*temperature)(void*, int, unsigned*) = nullptr;
  int (*reasons)(void*, unsigned long long*) = nullptr;
};

GpuState::GpuState(const std::string& pci_address) {
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  auto* nvml = new Nvml{.library = library};
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
  };
  load(nvml->init, "nvmlInit_v2");
  load(nvml->shutdown, "nvmlShutdown");
  load(nvml->by_address, "nvmlDeviceGetHandleByPciBusId_v2");
  load(nvml->clock, "nvmlDeviceGetClockInfo");
  load(nvml->max_clock, "nvmlDeviceGetMaxClockInfo");
  load(nvml->power, "nvmlDeviceGetPowerUsage");
  load(nvml->power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  load(nvml->temperature, "nvmlDeviceGetTemperature");
  load(nvml->reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  const bool usable =
      nvml->init != nullptr && nvml->by_address != nullptr && nvml->clock != nullptr && nvml->init() == 0;
  if (usable && nvml->by_address(pci_address.c_str(), &device_) == 0) {
    nvml_ = nvml;
    if (nvml->max_clock != nullptr) nvml->max_clock(device_, kSmClock, &most_mhz_);
    if (nvml->power_limit != nullptr) nvml->power_limit(device_, &limit_milliwatts_);
    return;
  }
  if (usable && nvml->shutdown != nullptr) nvml->shutdown();
  ::dlclose(library);
  delete nvml;
}

GpuState::~GpuState() {
  if (nvml_ == nullptr) return;
  if (nvml_->shutdown != nullptr) nvml_->shutdown();
  ::dlclose(nvml_->library);
  delete nvml_;
}

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

bool GpuState::throttled() const { return !names_of(reasons_).empty(); }

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
