#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace c63::bench {

/// Puts a kernel on the stream that does nothing but VABSDIFF4 on all multiprocessors. Returns how many it executes, counted
/// per thread. The kernel may write to `out`.
double enqueue_absdiff4(cudaStream_t stream, std::uint32_t* out, int multiprocessors);

}  // namespace c63::bench
