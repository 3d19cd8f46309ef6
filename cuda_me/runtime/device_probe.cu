#include <cuda_runtime_api.h>

namespace c63::cuda {
namespace {
__global__ void probe_kernel() {}
}  // namespace

/// Returns success if this build has code for the current device, otherwise the reason. Called by devices.cpp.
cudaError_t probe_code() noexcept {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status;
}

}  // namespace c63::cuda
