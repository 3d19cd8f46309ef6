#pragma once

#include "bench/bench.h"
#include <string>

namespace c63::bench {

/// Runs `command` under NVIDIA's profiler ncu, which takes seconds. Counts its first launch of c63_motion after
/// cudaProfilerStart(). Returns the figures in percent of the GPU's peak, with a line for people in `text`. Returns only
/// `why_not` if ncu is missing, counts nothing or takes longer than half a minute.
[[nodiscard]] Json count_by_ncu(const std::string& command);

/// Returns the same from what ncu --csv wrote, and from its exit code.
[[nodiscard]] Json counters_of(const std::string& csv, int exit_code);

}  // namespace c63::bench
