#pragma once

#include <cuda_runtime_api.h>

namespace c63::cuda {

/// Throws c63::Error if `status` is not success. `what` names the call or the kernel in the message.
///   C63-CUDA-MEMORY (kind memory)    not enough device or pinned memory
///   C63-CUDA-NO-DRIVER, C63-CUDA-NO-DEVICE, C63-CUDA-NO-CODE (kind device)    this machine cannot run c63's kernels
///   C63-CUDA-STICKY (kind device)    a kernel failed; this process cannot use the device any more
///   C63-CUDA-CALL (kind device)      anything else
void check(cudaError_t status, const char* what);

/// Returns true for errors after which this process cannot use the device any more.
[[nodiscard]] bool is_sticky(cudaError_t status) noexcept;

/// Clears the error of a call that failed, so that a later call does not report it. For destructors, which cannot throw.
void drop_error(cudaError_t status) noexcept;

}  // namespace c63::cuda
