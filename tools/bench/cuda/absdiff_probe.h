#pragma once

#include <cuda_runtime_api.h>

namespace c63::bench {

/// Returns how many VABSDIFF4 instructions per second the current device executes, counted per thread, best of several
/// runs. One instruction computes four absolute differences. This rate is the ceiling of searches that compare each
/// candidate.
[[nodiscard]] double measure_absdiff4_ceiling(cudaStream_t stream);

}  // namespace c63::bench
