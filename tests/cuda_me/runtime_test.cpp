// Tests the handles that own CUDA objects, the checks for CUDA errors, and the search for devices. Tests that need a
// GPU are skipped if there is none.
#include <gtest/gtest.h>

#include "c63/cuda/decoder.h"
#include "c63/cuda/devices.h"
#include "c63/cuda/filters.h"
#include "c63/cuda/motion_estimator.h"
#include "c63/error.h"
#include "cuda_me/backend_test_support.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
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
  test::expect_error(ErrorKind::memory, "C63-CUDA-MEMORY", [] { check(cudaErrorMemoryAllocation, "probe"); });
  test::expect_error(ErrorKind::device, "C63-CUDA-CALL", [] { check(cudaErrorInvalidValue, "probe"); });
  EXPECT_EQ(id_of(cudaErrorInsufficientDriver), "C63-CUDA-NO-DRIVER");
  EXPECT_EQ(id_of(cudaErrorNoDevice), "C63-CUDA-NO-DEVICE");
  EXPECT_EQ(id_of(cudaErrorNoKernelImageForDevice), "C63-CUDA-NO-CODE");
  EXPECT_EQ(id_of(cudaErrorIllegalAddress), "C63-CUDA-STICKY");
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

TEST(Devices, WithoutOneEverythingFailsByName) {
  const DeviceList& list = devices();
  if (list.state == DeviceState::usable) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_FALSE(list.reason.empty());
  const std::string id = test::error_id([] { static_cast<void>(require_device()); });
  EXPECT_TRUE(id == "C63-CUDA-NO-DRIVER" || id == "C63-CUDA-NO-DEVICE" || id == "C63-CUDA-NO-CODE") << id;
  const auto refused = [&](const std::function<void()>& use) { test::expect_error(ErrorKind::device, id, use); };
  refused([] { FilterQueue(); });
  refused([] { MotionEstimator({.width = 64, .height = 64}); });
  refused([] { static_cast<void>(open_decoder()); });
  refused([] { static_cast<void>(on_gpu({.coding = {.width = 16, .height = 16}}, test::moving_video(16, 16, 1))); });
  EXPECT_THROW(static_cast<void>(make_motion_search("fast")), Error);
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
