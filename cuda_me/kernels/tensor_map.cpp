#include "cuda_me/kernels/tensor_map.h"

#include <cuda_runtime_api.h>
#include <cudaTypedefs.h>

#include <string>

#include "c63/error.h"

namespace c63::cuda {
namespace {

constexpr std::ptrdiff_t kAlignment = 16;

/// Found in the driver that runs, so that nothing links against one.
PFN_cuTensorMapEncodeTiled_v12000 find_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result);
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  static const PFN_cuTensorMapEncodeTiled_v12000 function = find_encoder();
  return function;
}

}  // namespace

bool have_tensor_maps() { return encoder() != nullptr; }

bool can_map_plane(const std::uint8_t* plane, std::ptrdiff_t pitch) {
  return reinterpret_cast<std::uintptr_t>(plane) % kAlignment == 0 && pitch % kAlignment == 0;
}

CUtensorMap map_plane(const std::uint8_t* plane, std::ptrdiff_t pitch, int width, int height, int box_width,
                      int box_height) {
  CUtensorMap map{};
  const cuuint64_t size[2] = {static_cast<cuuint64_t>(width), static_cast<cuuint64_t>(height)};
  const cuuint64_t stride[1] = {static_cast<cuuint64_t>(pitch)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_width), static_cast<cuuint32_t>(box_height)};
  const cuuint32_t step[2] = {1, 1};
  const CUresult status =
      encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<std::uint8_t*>(plane), size, stride, box, step,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw Error(ErrorKind::device, "C63-CUDA-CALL",
                "cuTensorMapEncodeTiled failed with " + std::to_string(static_cast<int>(status)));
  }
  return map;
}

}  // namespace c63::cuda
