#pragma once

#include <cuda_runtime_api.h>

namespace c63::cuda {

/// Throws c63::Error if `status` is not success. `what` names the call or the kernel, for the message.
///   C63-CUDA-MEMORY (kind memory)    not enough device or pinned memory
///   C63-CUDA-NO-DRIVER, C63-CUDA-NO-DEVICE, C63-CUDA-NO-CODE (kind device)    this machine cannot run our kernels
///   C63-CUDA-STICKY (kind device)    a kernel faulted; nothing on this device works any more in this process
///   C63-CUDA-CALL (kind device)      anything else
void check(cudaError_t status, const char* what);

/// Whether this error leaves the device useless for the rest of the process.
[[nodiscard]] bool is_sticky(cudaError_t status) noexcept;

/// Told of a handle that could not be released: destructors neither throw nor hide. Called from destructors, so it must
/// not throw. The default does nothing but count.
using ReleaseFailureHandler = void (*)(const char* what, const char* reason) noexcept;
void set_release_failure_handler(ReleaseFailureHandler handler) noexcept;
/// How many releases have failed in this process.
[[nodiscard]] long release_failures() noexcept;

/// For destructors: counts and reports a failure, and never throws. A driver that is already shutting down is none.
void check_release(cudaError_t status, const char* what) noexcept;

}  // namespace c63::cuda
