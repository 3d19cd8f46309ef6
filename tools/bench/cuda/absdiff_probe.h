#pragma once

#include <cuda_runtime_api.h>

namespace c63::bench {

/// What the current device reaches with VABSDIFF4 alone, in instructions a second counted a thread each: the ceiling of
/// every search that compares candidate by candidate. Four absolute differences an instruction. Best of several runs.
[[nodiscard]] double measure_absdiff4_ceiling(cudaStream_t stream);

}  // namespace c63::bench
