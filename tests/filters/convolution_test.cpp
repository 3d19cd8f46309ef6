// Tests convolution of signals and pictures. The serial form must give values that were computed by hand, and the fast
// form those of the serial one.
#include <cmath>
#include <limits>

#include "filters_test_support.h"

namespace c63 {
namespace {

TEST(Convolution, SerialIsWhatNumpyCallsSame) {
  const std::vector<double> signal = {1, 2, 3, 4};
  const std::vector<double> taps = {1, 10, 100};
  std::vector<double> out(4);
  convolve(signal, taps, out, FilterForm::serial);
  EXPECT_EQ(out, (std::vector<double>{12, 123, 234, 340}));
}

TEST(Convolution, FastAgreesToTheBitAtEveryLength) {
  for (const std::size_t length : kLengths) {
    const auto signal = make_values<double>(length, Content::random);
    for (const std::size_t count : {1, 3, 5, 7, 33, 1023}) {
      if (length > 1000 && count > 33) continue;
      const auto taps = make_values<double>(count, Content::random, 2);
      std::vector<double> expected(length, -1), got(length, -2);
      convolve(signal, taps, expected, FilterForm::serial);
      convolve(signal, taps, got, FilterForm::fast);
      ASSERT_EQ(expected, got) << length << " samples, " << count << " taps";
    }
  }
}

TEST(Convolution, LongSignalsGoPastTheCaches) {
  const auto signal = make_values<double>(3'000'001, Content::random);
  std::vector<double> expected(signal.size(), -1), got(signal.size(), -2);
  mean_filter(signal, 5, expected, FilterForm::serial);
  mean_filter(signal, 5, got, FilterForm::fast);
  EXPECT_EQ(expected, got);
}

TEST(Convolution, ReportsWrongArguments) {
  std::vector<double> signal(8), out(8), shorter(7);
  const auto with = [&](std::size_t count) { return std::vector<double>(count, 1.0); };
  EXPECT_EQ(error_id([&] { convolve(signal, with(4), out); }), "C63-KERNEL-EVEN");
  EXPECT_EQ(error_id([&] { convolve(signal, with(0), out); }), "C63-KERNEL-EVEN");
  EXPECT_EQ(error_id([&] { convolve(signal, with(1025), out); }), "C63-KERNEL-SIZE");
  EXPECT_EQ(error_id([&] { mean_filter(signal, 4, out); }), "C63-KERNEL-EVEN");
  EXPECT_EQ(error_id([&] { mean_filter(signal, -3, out); }), "C63-KERNEL-EVEN");
  EXPECT_EQ(error_id([&] { mean_filter(signal, 2001, out); }), "C63-KERNEL-SIZE");
  EXPECT_EQ(error_id([&] { convolve(signal, with(3), signal); }), "C63-FILTER-OVERLAP");
  const std::vector<double> infinite = {1, std::numeric_limits<double>::infinity(), 1};
  EXPECT_EQ(error_id([&] { convolve(signal, infinite, out); }), "C63-KERNEL-VALUE");
  EXPECT_EQ(error_id([&] { convolve(signal, with(3), shorter); }), "C63-FILTER-SHAPE");
}

TEST(Convolution2d, SerialIsTheDefinition) {
  Picture<std::uint8_t> in({3, 2}, Content::zeros);
  in.view().at(1, 0) = 100;
  in.view().at(2, 1) = 10;
  ByteKernel kernel;
  kernel.size = 3;
  kernel.taps = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  kernel.divisor = 2;
  Picture<std::uint8_t> out({3, 2});
  convolve(in.view(), kernel, out.view(), FilterForm::serial);
  // The sums, before they are divided:
  //   upper row: 4·100, then 5·100 + 1·10, then 6·100 + 2·10
  //   lower row: 7·100, then 8·100 + 4·10, then 9·100 + 5·10
  const auto row = [&](int y) { return std::vector<int>(out.view().row(y), out.view().row(y) + 3); };
  EXPECT_EQ(row(0), (std::vector{200, 255, 255}));
  kernel.divisor = 10;
  convolve(in.view(), kernel, out.view(), FilterForm::serial);
  EXPECT_EQ(row(0), (std::vector{40, 51, 62}));
  EXPECT_EQ(row(1), (std::vector{70, 84, 95}));
}

ByteKernel random_kernel(int size) {
  ByteKernel kernel;
  kernel.size = size;
  kernel.taps = make_values<std::int32_t>(static_cast<std::size_t>(size * size), Content::random, 3, 50);
  kernel.divisor = 37;
  return kernel;
}

TEST(Convolution2d, FastBytesAreExact) {
  for (const Size size : kSizes) {
    for (const Content content : kContents) {
      const Picture<std::uint8_t> in(size, content);
      for (const ByteKernel& kernel : {random_kernel(1), random_kernel(3), random_kernel(31), mean_kernel(5),
                                       gauss_kernel(1.3), gauss_kernel(5), mean_kernel(31)}) {
        Picture<std::uint8_t> expected(size, std::uint8_t{9}), got(size, std::uint8_t{9});
        convolve(in.view(), kernel, expected.view(), FilterForm::serial);
        std::ranges::fill(got.samples, std::uint8_t{9});
        convolve(in.view(), kernel, got.view(), FilterForm::fast);
        ASSERT_EQ(expected.samples, got.samples) << size.width << "x" << size.height << " kernel " << kernel.size;
      }
    }
  }
}

TEST(Convolution2d, FastFloatsAreClose) {
  for (const Size size : kSizes) {
    const Picture<float> in(size, Content::random);
    FloatKernel kernel;
    kernel.size = 7;
    kernel.taps = make_values<float>(49, Content::random, 5);
    kernel.divisor = 3;
    const auto factor = make_values<float>(9, Content::random, 6);
    for (const FloatKernel& k : {kernel, separable_kernel<float>(factor, factor, 2)}) {
      Picture<float> expected(size), got(size);
      convolve(in.view(), k, expected.view(), FilterForm::serial);
      convolve(in.view(), k, got.view(), FilterForm::fast);
      double magnitude = 0;
      for (const float tap : k.taps) magnitude += std::abs(tap);
      for (std::size_t i = 0; i < got.samples.size(); ++i) {
        ASSERT_NEAR(expected.samples[i], got.samples[i], 1e-6 * magnitude * 260 / k.divisor);
      }
    }
  }
}

TEST(Convolution2d, FlatAreasKeepTheirLevelUnderAGaussian) {
  for (const double sigma : {0.3, 1.0, 2.5, 5.0}) {
    const ByteKernel kernel = gauss_kernel(sigma);
    std::int64_t total = 0;
    for (const auto tap : kernel.taps) total += tap;
    EXPECT_EQ(total, kernel.divisor);
  }
}

TEST(Convolution2d, ReportsWrongArguments) {
  const Picture<std::uint8_t> in({8, 8}, Content::random);
  Picture<std::uint8_t> out({8, 8}), other({7, 8});
  const auto with = [&](ByteKernel kernel) { return error_id([&] { convolve(in.view(), kernel, out.view()); }); };
  ByteKernel kernel = random_kernel(3);
  kernel.size = 2;
  EXPECT_EQ(with(kernel), "C63-KERNEL-EVEN");
  EXPECT_EQ(with(random_kernel(33)), "C63-KERNEL-SIZE");
  kernel = random_kernel(3);
  kernel.taps.pop_back();
  EXPECT_EQ(with(kernel), "C63-KERNEL-SIZE");
  kernel = random_kernel(3);
  kernel.divisor = 0;
  EXPECT_EQ(with(kernel), "C63-KERNEL-VALUE");
  kernel = random_kernel(3);
  kernel.taps[4] = 10'000'000;
  EXPECT_EQ(with(kernel), "C63-KERNEL-VALUE");
  kernel = mean_kernel(3);
  kernel.row[1] = 7;
  EXPECT_EQ(with(kernel), "C63-KERNEL-VALUE");
  EXPECT_EQ(error_id([] { static_cast<void>(gauss_kernel(-1)); }), "C63-KERNEL-VALUE");
  EXPECT_EQ(error_id([] { static_cast<void>(gauss_kernel(9)); }), "C63-KERNEL-VALUE");
  EXPECT_EQ(error_id([] { static_cast<void>(mean_kernel(6)); }), "C63-KERNEL-EVEN");
  Picture<std::uint8_t> same({8, 8});
  EXPECT_EQ(error_id([&] { convolve(same.view(), mean_kernel(3), same.view()); }), "C63-FILTER-OVERLAP");
  EXPECT_EQ(error_id([&] { convolve(in.view(), mean_kernel(3), other.view()); }), "C63-FILTER-SHAPE");
}

}  // namespace
}  // namespace c63
