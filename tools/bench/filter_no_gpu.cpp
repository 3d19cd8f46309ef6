// Replaces bench_filters_gpu.cpp in a build without CUDA. These functions only print that the build has no CUDA.
#if !defined(C63_HAVE_CUDA)

#include <cstdio>

#include "bench/filter_report.h"

namespace c63::bench {

void bench_filters_on_gpu(const FilterBenchOptions&, FilterTable&) { std::puts("GPU: this c63 was built without CUDA"); }
void bench_scans_on_gpu(const FilterBenchOptions&, FilterTable&) { std::puts("GPU: this c63 was built without CUDA"); }

}  // namespace c63::bench

#endif
