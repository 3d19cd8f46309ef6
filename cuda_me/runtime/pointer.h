#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <span>

#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {

/// Returns CUDA's index of the device that owns this memory; empty for host memory.
[[nodiscard]] inline std::optional<int> device_with(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged) return std::nullopt;
  return attributes.device;
}

/// Returns true if `device` can copy these bytes directly: from its own memory, or from page-locked host memory. Checks
/// only the first and the last byte. False if there are no bytes.
[[nodiscard]] inline bool can_copy(int device, std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return false;
  if (const std::optional<int> with = device_with(bytes.data())) {
    return with == device && device_with(&bytes.back()) == device;
  }
  return is_page_locked(bytes);
}

}  // namespace c63::cuda
