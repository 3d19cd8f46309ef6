#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace c63::cuda {

/// Whether c63's kernels can run, or why not.
enum class DeviceState {
  usable,
  no_driver,   ///< no NVIDIA driver, or one too old for this build
  no_device,   ///< a driver, but no device that it can see
  no_code,     ///< this build has no code for the device's architecture
  failed,      ///< a device that cannot be opened, for example because another process has taken it
};

[[nodiscard]] const char* name(DeviceState state) noexcept;

/// One GPU.
struct DeviceInfo {
  int index = 0;
  std::string name;            ///< the driver's name for it
  int compute_major = 0;       ///< 9 for sm_90
  int compute_minor = 0;       ///< 0 for sm_90
  int multiprocessors = 0;
  int clock_khz = 0;           ///< highest clock of the multiprocessors
  std::size_t memory_bytes = 0;
  std::size_t shared_bytes_per_block = 0;  ///< the most that a kernel can request
  DeviceState state = DeviceState::usable;
  std::string reason;          ///< why it is not usable, in plain text; empty if it is
};

/// The GPUs of this machine.
struct DeviceList {
  DeviceState state = DeviceState::usable;  ///< usable if at least one device is
  std::string reason;                       ///< why none is usable, in plain text; empty if one is
  std::vector<DeviceInfo> devices;
  int driver_version = 0;   ///< 13000 is 13.0; 0 without a driver
  int runtime_version = 0;
};

/// Returns true if this machine seems to have a GPU and the kernel's part of its driver. Does not start the driver.
[[nodiscard]] bool has_device_files();

/// The GPUs of this machine, the same list for the whole process. The first call opens every device, all at the same time, to
/// see whether it can be used. Never throws if a machine lacks something.
[[nodiscard]] const DeviceList& devices();

/// The same list without opening devices, which takes a quarter of a second each. A device that is listed as usable may turn
/// out not to be.
[[nodiscard]] const DeviceList& listed_devices();

/// Opens only the device with this index and returns it. Throws Error (device) with ids C63-CUDA-NO-DRIVER, C63-CUDA-NO-DEVICE,
/// C63-CUDA-NO-CODE or C63-CUDA-DEVICE-FAILED if it cannot run c63's kernels.
[[nodiscard]] const DeviceInfo& require_device(int index = 0);

}  // namespace c63::cuda
