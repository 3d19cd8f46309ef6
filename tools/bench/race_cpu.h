#pragma once

#include "bench/bench_options.h"

namespace c63::bench {

/// Races the files of --search: judges and times each in a process of its own, then tells all beside the built-in
/// searches. Throws Error if one is not right.
void race_cpu_files(const CpuBenchOptions& options);

}  // namespace c63::bench
