#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace c63::cuda {

/// Says whether c63's kernels can run on a device, and if not, why.
enum class DeviceState {
  usable,
  no_driver,   ///< no NVIDIA driver, or one too old for this build
  no_device,   ///< a driver, but no device that this process can see
  no_code,     ///< this build has no code for the device's architecture
  failed,      ///< a device that cannot be opened, for example because another process has taken it
};

/// One GPU.
struct DeviceInfo {
  int index = 0;
  std::string name;            ///< the driver's name for it
  int architecture = 0;        ///< 90 for sm_90
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t shared_bytes_per_block = 0;  ///< the most shared memory that a kernel can request per thread block
  DeviceState state = DeviceState::usable;
  std::string reason;          ///< why it is not usable, in plain text; empty if it is
};

/// The GPUs that this process can see, and whether it can use any of them.
struct DeviceList {
  DeviceState state = DeviceState::usable;  ///< usable if at least one device is
  std::string reason;                       ///< why none is usable, in plain text; empty if one is
  std::vector<DeviceInfo> devices;
  int driver_version = 0;   ///< 13000 is 13.0; 0 without a driver
  int runtime_version = 0;
};

/// Returns true if this machine has a file of a GPU's driver, such as /dev/nvidiactl. Does not start the driver.
[[nodiscard]] bool has_device_files();

/// Returns the GPUs of this machine. Every call in a process returns the same list. The first call opens all devices at
/// the same time to see whether they can be used. It is no error if a machine has no GPU or no driver.
[[nodiscard]] const DeviceList& devices();

/// Returns the same GPUs as devices(), but does not open them. (Opening a GPU takes a quarter of a second.) So a GPU
/// that is marked usable in this list may fail when it is opened.
[[nodiscard]] const DeviceList& listed_devices();

/// Opens only the device with this index and returns it. Throws Error (device) with ids C63-CUDA-NO-DRIVER,
/// C63-CUDA-NO-DEVICE, C63-CUDA-NO-CODE or C63-CUDA-DEVICE-FAILED if it cannot run c63's kernels.
[[nodiscard]] const DeviceInfo& require_device(int index = 0);

}  // namespace c63::cuda
