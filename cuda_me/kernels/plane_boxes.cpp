#include "cuda_me/kernels/plane_boxes.h"

#include <cuda_runtime_api.h>

#include <array>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

PlaneBoxes::PlaneBoxes(bool wanted) {
  if (!wanted) return;
  constexpr unsigned kSince = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, kSince, cudaEnableDefault, &result),
        "cuTensorMapEncodeTiled");
  if (result == cudaDriverEntryPointSuccess) encode_ = reinterpret_cast<decltype(encode_)>(found);
}

bool PlaneBoxes::describe(CUtensorMap& map, const BoxedPlane& plane, unsigned width, unsigned height) const {
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

}  // namespace c63::cuda
