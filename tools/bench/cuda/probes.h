#pragma once

#include <functional>
#include <span>

#include "bench/bench.h"
#include "c63/frame_source.h"
#include "c63/thread_pool.h"
#include "cuda_me/runtime/stream.h"

// The limits of a machine with GPUs, measured in the same run as what they limit. Rates are per second.

namespace c63::bench {

/// Makes a function for Case: it returns the seconds of one run of `work`, which puts its kernels on the stream. A graph of
/// `inner` runs is timed by events of the GPU.
[[nodiscard]] std::function<double()> timed_on(cudaStream_t stream, const std::function<void()>& work, int inner = 1);

/// Returns how many VABSDIFF4 instructions the current device executes, counted per thread, best of several runs. One
/// instruction computes four absolute differences. This rate is the ceiling of searches that compare each candidate.
[[nodiscard]] double measure_absdiff4_ceiling(const cuda::Stream& stream);

/// Returns the bytes, read plus written, of copies of 256 MiB in the current device's memory, best of several. It is the
/// ceiling of kernels that touch their data once.
[[nodiscard]] double measure_memory_ceiling(const cuda::Stream& stream);

/// Bytes that copies from page-locked host memory to GPUs move.
struct BusRates {
  double alone = 0;     ///< to one GPU at a time: the median over the GPUs
  double together = 0;  ///< to all GPUs at once: the sum, because they may share the host's memory and switches
};
[[nodiscard]] BusRates measure_buses(std::span<const int> devices);

/// Returns how many bytes all threads of a pool read from a source into page-locked memory.
[[nodiscard]] double measure_reading(FrameSource& source, ThreadPool& pool);

/// Returns the rate of measure_reading() while GPUs fetch the frames over all their buses. No encode from that source
/// can be faster. Fetching takes a part of the host memory's rate, too.
[[nodiscard]] double measure_feeding(FrameSource& source, ThreadPool& pool, std::span<const int> devices);

}  // namespace c63::bench
