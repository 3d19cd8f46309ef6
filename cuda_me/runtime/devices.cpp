#include "c63/cuda/devices.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <mutex>
#include <string>

#include "c63/error.h"
#include "cuda_me/runtime/check.h"

namespace c63::cuda {

cudaError_t probe_code() noexcept;  // in device_probe.cu

namespace {

std::string words(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

/// Opens a device to find out whether it can run c63's code. The driver takes a quarter of a second to open it.
void probe(DeviceInfo& info) {
  try {
    const DeviceGuard guard(info.index);
    const cudaError_t status = probe_code();
    if (status == cudaSuccess) return;
    const bool no_code = status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
                         status == cudaErrorUnsupportedPtxVersion;
    info.state = no_code ? DeviceState::no_code : DeviceState::failed;
    info.reason = no_code ? "this build has no code for sm_" + std::to_string(info.architecture) : words(status);
  } catch (const Error& error) {
    info.state = DeviceState::failed;
    info.reason = error.message();
  }
}

DeviceInfo describe(int index) {
  DeviceInfo info;
  info.index = index;
  cudaDeviceProp properties{};
  const cudaError_t status = cudaGetDeviceProperties(&properties, index);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    info.state = DeviceState::failed;
    info.reason = words(status);
    return info;
  }
  info.name = properties.name;
  info.architecture = properties.major * 10 + properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.memory_bytes = properties.totalGlobalMem;
  info.shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  return info;
}

/// Lists the devices without opening them.
DeviceList look() {
  DeviceList list;
  if (cudaDriverGetVersion(&list.driver_version) != cudaSuccess) list.driver_version = 0;
  if (cudaRuntimeGetVersion(&list.runtime_version) != cudaSuccess) list.runtime_version = 0;
  static_cast<void>(cudaGetLastError());
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (list.driver_version == 0) {
    list.state = DeviceState::no_driver;
    list.reason = "no NVIDIA driver is loaded";
  } else if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary ||
             status == cudaErrorSystemDriverMismatch) {
    list.state = DeviceState::no_driver;
    list.reason = words(status);
  } else if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    list.state = DeviceState::no_device;
    list.reason = "the driver finds no GPU";
  } else if (status != cudaSuccess) {
    list.state = DeviceState::failed;
    list.reason = words(status);
  }
  if (list.state != DeviceState::usable) return list;

  for (int i = 0; i < count; ++i) list.devices.push_back(describe(i));
  return list;
}

/// The devices of this machine. A device is opened when its state is first needed.
class Devices {
 public:
  static Devices& instance() {
    static Devices devices;
    return devices;
  }

  /// The list as it was before any device was opened.
  [[nodiscard]] const DeviceList& list() const { return list_; }

  const DeviceInfo& probed(std::size_t index) {
    DeviceInfo& info = probed_.devices[index];
    std::call_once(once_[index], [&info] {
      if (info.state == DeviceState::usable) probe(info);
    });
    return info;
  }

  const DeviceList& all_probed() {
    std::call_once(all_, [this] {
      std::vector<std::future<void>> probes;
      for (std::size_t i = 0; i < list_.devices.size(); ++i) {
        probes.push_back(std::async(std::launch::async, [this, i] { static_cast<void>(probed(i)); }));
      }
      for (std::future<void>& done : probes) done.get();
      const auto usable = [](const DeviceInfo& device) { return device.state == DeviceState::usable; };
      if (probed_.devices.empty() || std::ranges::any_of(probed_.devices, usable)) return;
      probed_.state = probed_.devices.front().state;
      probed_.reason = probed_.devices.front().name + ": " + probed_.devices.front().reason;
    });
    return probed_;
  }

 private:
  Devices() : list_(look()), probed_(list_), once_(list_.devices.size()) {}

  const DeviceList list_;
  DeviceList probed_;
  std::vector<std::once_flag> once_;
  std::once_flag all_;
};

[[noreturn]] void refuse(DeviceState state, const std::string& reason) {
  switch (state) {
    case DeviceState::no_driver:
      throw Error(ErrorKind::device, "C63-CUDA-NO-DRIVER", "no usable GPU driver: " + reason);
    case DeviceState::no_device:
      throw Error(ErrorKind::device, "C63-CUDA-NO-DEVICE", "no GPU: " + reason);
    case DeviceState::no_code:
      throw Error(ErrorKind::device, "C63-CUDA-NO-CODE", "GPU cannot be used: " + reason);
    default:
      throw Error(ErrorKind::device, "C63-CUDA-DEVICE-FAILED", "GPU cannot be used: " + reason);
  }
}

}  // namespace

const DeviceList& devices() { return Devices::instance().all_probed(); }

bool has_device_files() {
  // The device files of Linux, of the Windows subsystem for Linux, and of NVIDIA's boards whose GPU is on the same chip
  // as the CPU.
  constexpr std::array kFiles = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu"};
  return std::ranges::any_of(kFiles, [](const char* file) { return ::access(file, F_OK) == 0; });
}

const DeviceList& listed_devices() { return Devices::instance().list(); }

const DeviceInfo& require_device(int index) {
  Devices& known = Devices::instance();
  const DeviceList& list = known.list();
  if (list.devices.empty()) refuse(list.state, list.reason);
  if (index < 0 || static_cast<std::size_t>(index) >= list.devices.size()) {
    throw Error(ErrorKind::device, "C63-CUDA-NO-DEVICE", "there is no GPU " + std::to_string(index) +
                                                             ": the GPUs are numbered 0 to " + std::to_string(list.devices.size() - 1));
  }
  const DeviceInfo& device = known.probed(static_cast<std::size_t>(index));
  if (device.state != DeviceState::usable) refuse(device.state, device.name + ": " + device.reason);
  return device;
}

}  // namespace c63::cuda
