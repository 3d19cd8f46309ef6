#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "c63/cuda/devices.h"
#include "c63/cuda/filters.h"
#include "filters/filters_test_support.h"

namespace c63::cuda {

/// A test of filters that runs twice: with all lengths, sizes and contents, and with a few, for tools/gpu_check, which
/// runs it in compute-sanitizer. Because that is slow, the few are small. The name of that run has "SmallForSanitizers".
class FilterTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (devices().state != DeviceState::usable) GTEST_SKIP() << "no usable GPU: " << devices().reason;
    queue_.emplace();
  }
  [[nodiscard]] static bool few() { return GetParam(); }
  [[nodiscard]] static std::vector<std::size_t> lengths() {
    return few() ? std::vector<std::size_t>{1, 257, 5003} : std::vector<std::size_t>(kLengths.begin(), kLengths.end());
  }
  [[nodiscard]] static std::vector<Size> sizes() {
    return few() ? std::vector<Size>{{67, 19}} : std::vector<Size>(kSizes.begin(), kSizes.end());
  }
  [[nodiscard]] static std::vector<Content> contents() {
    return few() ? std::vector<Content>{Content::random} : std::vector<Content>(kContents.begin(), kContents.end());
  }
  [[nodiscard]] FilterQueue& queue() { return *queue_; }

 private:
  std::optional<FilterQueue> queue_;
};

#define C63_INSTANTIATE_FILTER_TESTS(Suite)                                       \
  INSTANTIATE_TEST_SUITE_P(All, Suite, testing::Values(false));                   \
  INSTANTIATE_TEST_SUITE_P(SmallForSanitizers, Suite, testing::Values(true))

/// A picture in device memory. Its rows have gaps between them.
template <typename T>
struct DevicePicture {
  DevicePicture(const FilterQueue& queue, const Picture<T>& host)
      : samples(queue, std::span<const T>(host.samples)), width(host.width), height(host.height) {}
  [[nodiscard]] BasicPlaneView<T> view() const { return {samples.data(), width, height, width + Picture<T>::kGap}; }
  [[nodiscard]] BasicPlaneView<const T> const_view() const { return view(); }
  DeviceArray<T> samples;
  int width;
  int height;
};

/// An array in device memory that begins `offset` elements after the start of an allocation, so it may be unaligned.
/// The elements around it have the value 77.
template <typename T>
struct Offset {
  Offset(const FilterQueue& queue, std::size_t size, std::size_t offset)
      : array(queue, std::span<const T>(std::vector<T>(size + offset + 4, T{77}))), first(offset), count(size) {}
  Offset(const FilterQueue& queue, const std::vector<T>& values, std::size_t offset)
      : Offset(queue, values.size(), offset) {
    queue.upload(array.data() + offset, values.data(), values.size() * sizeof(T));
  }
  [[nodiscard]] std::span<T> span() const { return {array.data() + first, count}; }
  [[nodiscard]] std::span<const T> const_span() const { return span(); }
  /// Returns the values of the array. Fails the test if a kernel changed the elements around it.
  [[nodiscard]] std::vector<T> download(const FilterQueue& queue) const {
    const std::vector<T> all = array.download(queue);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i >= first && i < first + count) continue;
      EXPECT_EQ(all[i], T{77}) << "written outside, at " << i;
    }
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(first + count)};
  }
  DeviceArray<T> array;
  std::size_t first;
  std::size_t count;
};

}  // namespace c63::cuda
