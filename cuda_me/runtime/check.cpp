#include "cuda_me/runtime/check.h"

#include <atomic>
#include <string>

#include "c63/error.h"

namespace c63::cuda {
namespace {

std::atomic<ReleaseFailureHandler> release_failure_handler{nullptr};
std::atomic<long> release_failure_count{0};

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

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, so that a later call does not report it
  const ErrorKind kind = status == cudaErrorMemoryAllocation ? ErrorKind::memory : ErrorKind::device;
  throw Error(kind, error_id(status),
              std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}

void set_release_failure_handler(ReleaseFailureHandler handler) noexcept { release_failure_handler = handler; }

long release_failures() noexcept { return release_failure_count; }

void check_release(cudaError_t status, const char* what) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
  static_cast<void>(cudaGetLastError());
  ++release_failure_count;
  if (const ReleaseFailureHandler handler = release_failure_handler.load()) handler(what, cudaGetErrorString(status));
}

}  // namespace c63::cuda
