#include "cuda_me/runtime/device_probe.h"

namespace c63::cuda {
namespace {
__global__ void probe_kernel() {}
}  // namespace

cudaError_t probe_code() noexcept {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status;
}

}  // namespace c63::cuda
