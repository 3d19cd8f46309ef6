#pragma once

#include <cuda_runtime_api.h>

namespace c63::cuda {

/// Whether the current device has code in this build: success, or the reason why not.
[[nodiscard]] cudaError_t probe_code() noexcept;

}  // namespace c63::cuda
