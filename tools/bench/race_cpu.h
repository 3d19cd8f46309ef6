#pragma once

#include "bench/bench_options.h"

namespace c63::bench {

/// Races the files of --search. Judges and times each in its own process, then prints all of them with the built-in
/// searches. With --in-process, judges and times the only file in this process. Throws Error if one is not right.
void race_cpu_files(const CpuBenchOptions& options);

}  // namespace c63::bench
