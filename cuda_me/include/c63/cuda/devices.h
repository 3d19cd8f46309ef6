#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace c63::cuda {

/// Whether c63's kernels can run, and if not, why.
enum class DeviceState {
  usable,
  no_driver,   ///< no NVIDIA driver, or one too old for this build
  no_device,   ///< a driver, but no device it can see
  no_code,     ///< a device for whose architecture this build has no code
  failed,      ///< a device that cannot be opened (for example: taken by another process)
};

[[nodiscard]] const char* name(DeviceState state) noexcept;

/// One GPU.
struct DeviceInfo {
  int index = 0;
  std::string name;            ///< as the driver calls it
  int compute_major = 0;       ///< 9 of sm_90
  int compute_minor = 0;       ///< 0 of sm_90
  int multiprocessors = 0;
  int clock_khz = 0;           ///< highest clock of the multiprocessors
  std::size_t memory_bytes = 0;
  std::size_t shared_bytes_per_block = 0;  ///< the most a kernel can ask for
  DeviceState state = DeviceState::usable;
  std::string reason;          ///< for people, empty where usable
};

/// What this machine has.
struct DeviceList {
  DeviceState state = DeviceState::usable;  ///< usable if at least one device is
  std::string reason;                       ///< for people, empty where usable
  std::vector<DeviceInfo> devices;
  int driver_version = 0;   ///< 13000 is 13.0; 0 without a driver
  int runtime_version = 0;
};

/// Whether this machine seems to have a GPU and the kernel's part of its driver. Asks the driver nothing, which would start it.
[[nodiscard]] bool has_device_files();

/// Looked at once per process; later calls give the same answer. Opens every device, side by side, to see whether it can
/// be used. Never throws for a machine that lacks something.
[[nodiscard]] const DeviceList& devices();

/// The same list without opening a device, which takes a quarter of a second each: a device that is called usable here may
/// yet be found not to be.
[[nodiscard]] const DeviceList& listed_devices();

/// The device of that index; opens it, and no other. Throws Error (device) with ids C63-CUDA-NO-DRIVER,
/// C63-CUDA-NO-DEVICE, C63-CUDA-NO-CODE or C63-CUDA-DEVICE-FAILED if it cannot run our kernels.
[[nodiscard]] const DeviceInfo& require_device(int index = 0);

}  // namespace c63::cuda
