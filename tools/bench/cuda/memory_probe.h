#pragma once

#include <cuda_runtime_api.h>

namespace c63::bench {

/// Returns the bytes a second that the current device's memory reads and writes together, by copies of 256 MiB, best of
/// several. It is the ceiling of work that touches its data once.
[[nodiscard]] double measure_memory_ceiling(cudaStream_t stream);

}  // namespace c63::bench
