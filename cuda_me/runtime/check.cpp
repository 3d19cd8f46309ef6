#include "cuda_me/runtime/check.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "c63/error.h"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {
namespace {

/// Returns true for errors after which this process cannot use the device any more.
bool is_sticky(cudaError_t status) noexcept {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

const char* error_id(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "C63-CUDA-MEMORY";
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
      return "C63-CUDA-NO-DRIVER";
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
      return "C63-CUDA-NO-DEVICE";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidKernelImage:
      return "C63-CUDA-NO-CODE";
    default:
      return is_sticky(status) ? "C63-CUDA-STICKY" : "C63-CUDA-CALL";
  }
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, so that a later call does not report it
  const ErrorKind kind = status == cudaErrorMemoryAllocation ? ErrorKind::memory : ErrorKind::device;
  throw Error(kind, error_id(status),
              std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}

void check_kernel(cudaError_t status, const void* kernel) {
  if (status == cudaSuccess) return;
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) != cudaSuccess) return check(status, "a kernel");
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name, nullptr, nullptr, nullptr),
                                                          &std::free);
  check(status, plain != nullptr ? plain.get() : name);
}

void drop_error(cudaError_t status) noexcept {
  if (status != cudaSuccess && status != cudaErrorCudartUnloading) static_cast<void>(cudaGetLastError());
}

}  // namespace c63::cuda
