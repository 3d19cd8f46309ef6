// Tests the handles that own CUDA objects, the checks for CUDA errors, and the search for devices. Tests that need a
// GPU are skipped if there is none.
#include <gtest/gtest.h>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/runtime/stream.h"
#include "support/expect_error.h"

namespace c63::cuda {
namespace {

#define C63_NEED_GPU() \
  if (devices().state != DeviceState::usable) GTEST_SKIP() << "no usable GPU: " << devices().reason

std::string id_of(cudaError_t status) {
  return test::error_id([&] { check(status, "probe"); });
}

TEST(Check, NamesEachClassOfFailure) {
  EXPECT_EQ(id_of(cudaSuccess), "");
  EXPECT_EQ(id_of(cudaErrorMemoryAllocation), "C63-CUDA-MEMORY");
  EXPECT_EQ(id_of(cudaErrorInsufficientDriver), "C63-CUDA-NO-DRIVER");
  EXPECT_EQ(id_of(cudaErrorNoDevice), "C63-CUDA-NO-DEVICE");
  EXPECT_EQ(id_of(cudaErrorNoKernelImageForDevice), "C63-CUDA-NO-CODE");
  EXPECT_EQ(id_of(cudaErrorIllegalAddress), "C63-CUDA-STICKY");
  EXPECT_EQ(id_of(cudaErrorInvalidValue), "C63-CUDA-CALL");
}

TEST(Check, DroppedErrorsAreNotReportedLater) {
  C63_NEED_GPU();
  drop_error(cudaSetDevice(1 << 20));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Devices, RequiringOneThatIsMissingSaysWhy) {
  const auto error = test::error_of([] { static_cast<void>(require_device(1 << 20)); });
  ASSERT_TRUE(error) << "a device with that index cannot exist";
  EXPECT_EQ(error->kind(), ErrorKind::device);
  EXPECT_TRUE(error->id().starts_with("C63-CUDA-NO-")) << error->what();
}

TEST(Devices, WithoutADriverEverythingFailsByName) {
  const DeviceList& list = devices();
  if (list.state != DeviceState::no_driver) GTEST_SKIP() << "this machine has a driver";
  EXPECT_TRUE(list.devices.empty());
  EXPECT_FALSE(list.reason.empty());
  test::expect_error(ErrorKind::device, "C63-CUDA-NO-DRIVER", [] { static_cast<void>(require_device()); });
  EXPECT_THROW(Stream(), Error);
  EXPECT_THROW(DeviceBuffer<int>(16), Error);
  EXPECT_THROW(PinnedBuffer<int>(16), Error);
  EXPECT_THROW(DeviceGuard(0), Error);
}

TEST(Runtime, AnExceptionEndsACapture) {
  C63_NEED_GPU();
  const Stream stream;
  EXPECT_THROW(static_cast<void>(GraphExec::capture(stream, [] { throw std::runtime_error("no"); })),
               std::runtime_error);
  DeviceBuffer<char> device(16);
  fill_async(device.data(), 1, 16, stream);  // shows that the stream works again
  stream.synchronize();
}

TEST(Runtime, TooMuchMemoryIsAMemoryErrorAndNotSticky) {
  C63_NEED_GPU();
  test::expect_error(ErrorKind::memory, "C63-CUDA-MEMORY", [] { DeviceBuffer<char> device(std::size_t{1} << 50); });
  DeviceBuffer<char> small(16);
  EXPECT_NE(small.data(), nullptr);
}

}  // namespace
}  // namespace c63::cuda
