#include <cuda_runtime.h>

#include <cstdint>

namespace c63::cuda {
namespace {
__global__ void fault_kernel(std::uintptr_t address) { *reinterpret_cast<volatile int*>(address) = 1; }
}  // namespace

void break_device() {
  fault_kernel<<<1, 1>>>(std::uintptr_t{0x10});
  // The returned error is ignored, because the code under test must find the failure itself.
  static_cast<void>(cudaDeviceSynchronize());
}

}  // namespace c63::cuda
