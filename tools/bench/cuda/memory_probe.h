#pragma once

#include <cuda_runtime_api.h>

namespace c63::bench {

/// Bytes a second that the current device's memory reads and writes together: copies of 256 MiB, best of several. The ceiling of
/// whatever touches its data once.
[[nodiscard]] double measure_memory_ceiling(cudaStream_t stream);

}  // namespace c63::bench
