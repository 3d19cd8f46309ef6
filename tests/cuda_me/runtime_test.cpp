// Tests the handles that own CUDA objects, the checks for CUDA errors, and the search for devices. Tests that need a
// GPU are skipped if there is none.
#include <gtest/gtest.h>

#include <numeric>
#include <type_traits>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/range.h"
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

TEST(Check, OutOfMemoryIsItsOwnKind) {
  test::expect_error(
      ErrorKind::memory, "C63-CUDA-MEMORY", [] { check(cudaErrorMemoryAllocation, "cudaMalloc"); },
      [](const Error& error) { EXPECT_NE(error.message().find("cudaMalloc"), std::string::npos); });
}

TEST(Check, DroppedErrorsAreNotReportedLater) {
  C63_NEED_GPU();
  drop_error(cudaSetDevice(1 << 20));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Devices, AreDetectedOnceAndNamed) {
  const DeviceList& list = devices();
  EXPECT_EQ(&list, &devices());
  EXPECT_EQ(list.state == DeviceState::usable, list.reason.empty());
  if (list.state == DeviceState::usable) {
    ASSERT_FALSE(list.devices.empty());
    EXPECT_GT(list.driver_version, 0);
    for (const DeviceInfo& device : list.devices) {
      EXPECT_FALSE(device.name.empty());
      EXPECT_EQ(device.state == DeviceState::usable, device.reason.empty());
    }
  }
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

TEST(Handles, MoveAndDoNotCopy) {
  static_assert(!std::is_copy_constructible_v<Stream> && std::is_nothrow_move_constructible_v<Stream>);
  static_assert(!std::is_copy_constructible_v<DeviceBuffer<int>> && std::is_nothrow_move_assignable_v<DeviceBuffer<int>>);
  DeviceBuffer<int> empty(0);  // needs no device
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.bytes(), 0U);
}

TEST(Handles, MoveKeepsTheMemory) {
  C63_NEED_GPU();
  DeviceBuffer<int> a(100);
  int* const p = a.data();
  DeviceBuffer<int> b(std::move(a));
  EXPECT_EQ(b.data(), p);
  EXPECT_EQ(b.size(), 100U);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT: a moved-from buffer is empty by contract
  EXPECT_EQ(a.size(), 0U);
  a = std::move(b);
  EXPECT_EQ(a.data(), p);
}

TEST(Runtime, CopiesThroughTheDeviceAndAGraph) {
  C63_NEED_GPU();
  const Range range("copies");
  const Stream stream;
  PinnedBuffer<int> host(1000);
  PinnedBuffer<int> back(1000);
  DeviceBuffer<int> device(1000);
  DeviceBuffer<int> second(1000);
  std::iota(host.span().begin(), host.span().end(), 1);
  const GraphExec exec = GraphExec::capture(stream, [&] {
    copy_async(device.data(), host.data(), host.size(), stream);
    copy_async(second.data(), device.data(), host.size(), stream);
    copy_async(back.data(), second.data(), host.size(), stream);
  });
  const Event start(Event::Timing::on);
  const Event stop(Event::Timing::on);
  for (int round = 0; round < 2; ++round) {
    std::fill(back.span().begin(), back.span().end(), -1);
    start.record(stream);
    exec.launch(stream);
    stop.record(stream);
    stop.synchronize();
    EXPECT_TRUE(stop.done());
    EXPECT_GE(stop.milliseconds_since(start), 0.F);
    EXPECT_TRUE(std::equal(host.span().begin(), host.span().end(), back.span().begin()));
    host.span()[7] = 99;
  }
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
  EXPECT_EQ(test::error_id([] { DeviceBuffer<char> device(std::size_t{1} << 50); }), "C63-CUDA-MEMORY");
  DeviceBuffer<char> small(16);
  EXPECT_NE(small.data(), nullptr);
}

}  // namespace
}  // namespace c63::cuda
