#pragma once

#include <cuda_runtime_api.h>

namespace c63::bench {

/// Returns the rate of copies of 256 MiB in the current device's memory: bytes per second, read plus written, best of
/// several. It is the ceiling of kernels that touch their data once.
[[nodiscard]] double measure_memory_ceiling(cudaStream_t stream);

}  // namespace c63::bench
