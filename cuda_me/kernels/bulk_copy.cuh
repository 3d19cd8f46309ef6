#pragma once

// Bulk tensor copies of Hopper GPUs: the maps of planes that they read, which the host makes, and the instructions for
// which CUDA has no simple function: the copies, and barriers that count the copied bytes.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

/// A plane that bulk copies read.
struct BoxedPlane {
  const std::uint8_t* samples;
  std::ptrdiff_t pitch;  ///< bytes
  int width;
  int height;
};

/// Makes tensor maps of planes, from which bulk copies read boxes of samples.
class PlaneBoxes {
 public:
  /// `wanted` is true if the device can run the kernel that reads the boxes (can_run()).
  explicit PlaneBoxes(bool wanted) {
    if (!wanted) return;
    constexpr unsigned kSince = 12000;
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, kSince, cudaEnableDefault, &result),
          "cuTensorMapEncodeTiled");
    if (result == cudaDriverEntryPointSuccess) encode_ = reinterpret_cast<decltype(encode_)>(found);
  }

  [[nodiscard]] bool available() const { return encode_ != nullptr; }

  /// Writes the tensor map of a plane for boxes of `width` by `height` samples. Returns false if bulk copies are not
  /// available, if base or pitch is not a multiple of 16, or if the driver refuses the sizes.
  [[nodiscard]] bool describe(CUtensorMap& map, const BoxedPlane& plane, unsigned width, unsigned height) const {
    constexpr std::uintptr_t kAlignment = 16;
    const std::uintptr_t both =
        reinterpret_cast<std::uintptr_t>(plane.samples) | static_cast<std::uintptr_t>(plane.pitch);
    if (encode_ == nullptr || both % kAlignment != 0) return false;
    const std::array<cuuint64_t, 2> sides{static_cast<cuuint64_t>(plane.width), static_cast<cuuint64_t>(plane.height)};
    const std::array<cuuint64_t, 1> strides{static_cast<cuuint64_t>(plane.pitch)};
    const std::array<cuuint32_t, 2> box{width, height};
    const std::array<cuuint32_t, 2> steps{1, 1};
    return encode_(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<std::uint8_t*>(plane.samples), sides.data(),
                   strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
  }

 private:
  decltype(&cuTensorMapEncodeTiled) encode_ = nullptr;  ///< the driver's function, found at run time
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void make_ready(std::uint64_t& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(std::uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

/// Arrives at the barrier. The barrier's current phase then ends only after copies have brought another `bytes` bytes.
__device__ __forceinline__ void arrive_and_expect(std::uint64_t& barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void wait_for(const std::uint64_t& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra end;\n"
      "bra again;\n"
      "end:\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

/// Starts the copy of a box (a rectangle of a plane) whose first sample is (x, y). Samples outside the plane become 0.
__device__ __forceinline__ void copy_box(const void* to, const CUtensorMap& from, int x, int y,
                                         std::uint64_t& arrived) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(&from), "r"(x), "r"(y), "r"(shared_address(&arrived))
      : "memory");
}

#endif

}  // namespace c63::cuda
