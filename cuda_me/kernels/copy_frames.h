#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace c63::cuda {

/// A copy of bytes within the device.
struct DeviceCopy {
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;
  std::size_t bytes = 0;
};

/// Enqueues copies for the frames of a batch, many in one launch. For small frames, separate calls of the driver would
/// take the host longer than the device needs for a frame. For large frames, this kernel is faster than the copy
/// engines: within the device, they copy no faster than over the bus.
void enqueue_copies(std::span<const DeviceCopy> copies, cudaStream_t stream);

}  // namespace c63::cuda
