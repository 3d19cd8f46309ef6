#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace c63::cuda {

/// Throws c63::Error if `status` is not success. `what` names the call or the kernel in the message.
///   C63-CUDA-MEMORY (kind memory)    not enough device or pinned memory
///   C63-CUDA-NO-DRIVER, C63-CUDA-NO-DEVICE, C63-CUDA-NO-CODE (kind device)    this machine cannot run c63's kernels
///   C63-CUDA-STICKY (kind device)    a kernel failed; this process cannot use the device any more
///   C63-CUDA-CALL (kind device)      anything else
void check(cudaError_t status, const char* what);

/// Does the same for the launch of a kernel, or for a call that sets its attributes.
void check_kernel(cudaError_t status, const void* kernel);

/// Clears the error of a call that failed, so that a later call does not report it. For destructors, which cannot throw.
void drop_error(cudaError_t status) noexcept;

/// Owns one handle of the CUDA runtime. `Release` releases it.
template <typename T, cudaError_t (*Release)(T)>
struct Releaser {
  void operator()(T handle) const noexcept { drop_error(Release(handle)); }
};
template <typename T, cudaError_t (*Release)(T)>
using Handle = std::unique_ptr<std::remove_pointer_t<T>, Releaser<T, Release>>;

/// Returns CUDA's index of this thread's current device.
[[nodiscard]] inline int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

/// Makes a device the current one of this thread until the end of the scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : previous_(current_device()) { check(cudaSetDevice(device), "cudaSetDevice"); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() { drop_error(cudaSetDevice(previous_)); }

 private:
  int previous_;
};

}  // namespace c63::cuda
