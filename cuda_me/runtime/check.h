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

/// Sets the function that is told when a destructor fails to release memory or another CUDA object. Destructors cannot
/// throw, and the function must not throw either. By default, such failures are only counted.
using ReleaseFailureHandler = void (*)(const char* what, const char* reason) noexcept;
void set_release_failure_handler(ReleaseFailureHandler handler) noexcept;
/// The number of failed releases in this process (see above).
[[nodiscard]] long release_failures() noexcept;

/// If `status` is an error, counts it as a failed release and reports it. Never throws, so destructors can use it.
/// Failures while the driver shuts down are ignored.
void check_release(cudaError_t status, const char* what) noexcept;

}  // namespace c63::cuda
