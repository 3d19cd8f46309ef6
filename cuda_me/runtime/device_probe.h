#pragma once

#include <cuda_runtime_api.h>

namespace c63::cuda {

/// Returns success if this build has code for the current device, otherwise the reason.
[[nodiscard]] cudaError_t probe_code() noexcept;

}  // namespace c63::cuda
