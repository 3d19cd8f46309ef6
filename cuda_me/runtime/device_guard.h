#pragma once

#include <cuda_runtime_api.h>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

/// Makes a device the current one of this thread until the end of the scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    check(cudaGetDevice(&previous_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() { drop_error(cudaSetDevice(previous_)); }

 private:
  int previous_ = 0;
};

}  // namespace c63::cuda
