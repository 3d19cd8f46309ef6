#pragma once

#include <cuda_runtime_api.h>

namespace c63::bench {

/// Returns the rate of VABSDIFF4 alone on the current device, in instructions of single threads per second. It is the
/// ceiling of every search that compares candidate by candidate. An instruction takes four absolute differences. Best
/// of several runs.
[[nodiscard]] double measure_absdiff4_ceiling(cudaStream_t stream);

}  // namespace c63::bench
