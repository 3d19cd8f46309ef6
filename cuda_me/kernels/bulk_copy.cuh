#pragma once

// Bulk tensor copies of Hopper GPUs: the maps of planes that they read, which the host makes, and the copies. Barriers
// count the copied bytes.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/check.h"

namespace c63::cuda {

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

  /// The sides of the boxes that a kernel reads from a plane, in samples.
  struct Box {
    int width;
    int height;
  };
  /// Writes the tensor maps of both planes of a job to the members `reference` and `current` of `maps`. Returns false
  /// if bulk copies are not available, if base or pitch is not a multiple of 16, or if the driver refuses the sizes.
  template <typename Maps>
  [[nodiscard]] bool describe(Maps& maps, const MotionJob& job, Box of_reference, Box of_current) const {
    return describe(maps.reference, job, job.reference, job.reference_pitch, of_reference) &&
           describe(maps.current, job, job.current, job.current_pitch, of_current);
  }

 private:
  [[nodiscard]] bool describe(CUtensorMap& map, const MotionJob& job, const std::uint8_t* samples, std::ptrdiff_t pitch,
                              Box box) const {
    constexpr std::uintptr_t kAlignment = 16;
    const std::uintptr_t both = reinterpret_cast<std::uintptr_t>(samples) | static_cast<std::uintptr_t>(pitch);
    if (encode_ == nullptr || both % kAlignment != 0) return false;
    const std::array<cuuint64_t, 2> sides{static_cast<cuuint64_t>(job.width), static_cast<cuuint64_t>(job.height)};
    const auto stride = static_cast<cuuint64_t>(pitch);
    const std::array<cuuint32_t, 2> box_sides{static_cast<cuuint32_t>(box.width), static_cast<cuuint32_t>(box.height)};
    const std::array<cuuint32_t, 2> steps{1, 1};
    return encode_(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<std::uint8_t*>(samples), sides.data(), &stride,
                   box_sides.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
  }

  decltype(&cuTensorMapEncodeTiled) encode_ = nullptr;  ///< the driver's function, found at run time
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

namespace ptx = ::cuda::ptx;

__device__ __forceinline__ void wait_for(std::uint64_t& barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(&barrier, parity)) {
  }
}

/// Starts the copy of a box (a rectangle of a plane) whose first sample is (x, y). Samples outside the plane become 0.
__device__ __forceinline__ void copy_box(void* to, const CUtensorMap& from, int x, int y, std::uint64_t& arrived) {
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &from, {x, y}, &arrived);
}

#endif

}  // namespace c63::cuda
