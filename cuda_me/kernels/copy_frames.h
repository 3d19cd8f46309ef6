#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace c63::cuda {

/// Bytes of the device that are copied within it.
struct DeviceCopy {
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;
  std::size_t bytes = 0;
};

/// Puts copies on `stream`, many in one launch. For those of a batch of frames: a call of the driver's for each would take the host
/// longer than a small frame takes the device, and its copy engines take as long for a large one as the bus.
void enqueue_copies(std::span<const DeviceCopy> copies, cudaStream_t stream);

}  // namespace c63::cuda
