// Compares every variant of the picture filters on a GPU with the serial form on the CPU, at odd sizes and with gaps
// between rows.
#include <cmath>

#include "filters_test_support.h"

namespace c63::cuda {
namespace {

TEST(CudaConvolution2d, EveryVariantIsExactForBytes) {
  C63_NEED_FILTER_GPU();
  FilterQueue queue;
  ByteKernel uneven;
  uneven.size = 5;
  uneven.taps = make_values<std::int32_t>(25, Content::random, 3, 50);
  uneven.divisor = 37;
  for (const Size size : kSizes) {
    for (const Content content : kContents) {
      const Picture<std::uint8_t> in(size, content);
      const DevicePicture<std::uint8_t> device_in(queue, in);
      for (const ByteKernel& kernel : {uneven, mean_kernel(1), mean_kernel(31), gauss_kernel(1.3), gauss_kernel(5)}) {
        Picture<std::uint8_t> expected(size);
        c63::convolve(in.view(), kernel, expected.view(), FilterForm::serial);
        for (const auto& [name, variant] : variant_names<Convolution2dVariant>()) {
          const DevicePicture<std::uint8_t> out(queue, Picture<std::uint8_t>(size));
          if (variant == Convolution2dVariant::separable && !kernel.separable()) {
            EXPECT_EQ(error_id([&] { convolve(queue, device_in.const_view(), kernel, out.view(), variant); }),
                      "C63-KERNEL-VALUE");
            continue;
          }
          convolve(queue, device_in.const_view(), kernel, out.view(), variant);
          ASSERT_EQ(expected.samples, out.samples.download(queue)) << name << " " << size.width << "x" << size.height;
        }
      }
    }
  }
}

TEST(CudaConvolution2d, EveryVariantIsCloseForFloats) {
  C63_NEED_FILTER_GPU();
  FilterQueue queue;
  const auto factor = make_values<float>(9, Content::random, 6);
  const FloatKernel kernel = separable_kernel<float>(factor, factor, 2);
  double magnitude = 0;
  for (const float tap : kernel.taps) magnitude += std::abs(tap);
  for (const Size size : kSizes) {
    const Picture<float> in(size, Content::random);
    const DevicePicture<float> device_in(queue, in);
    Picture<float> expected(size);
    c63::convolve(in.view(), kernel, expected.view(), FilterForm::serial);
    for (const auto& [name, variant] : variant_names<Convolution2dVariant>()) {
      const DevicePicture<float> out(queue, Picture<float>(size));
      convolve(queue, device_in.const_view(), kernel, out.view(), variant);
      const auto got = out.samples.download(queue);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(expected.samples[i], got[i], 1e-5 * magnitude * 255 / 2) << name;
      }
    }
  }
}

TEST(CudaProduct, EveryVariantIsCloseAtOddSizes) {
  C63_NEED_FILTER_GPU();
  FilterQueue queue;
  for (const auto& [rows, depth, columns] : std::vector<std::array<int, 3>>{
           {1, 1, 1}, {3, 0, 5}, {0, 3, 2}, {17, 33, 31}, {3, 129, 257}, {130, 300, 70}, {64, 64, 64}}) {
    const Picture<float> a({depth, rows}, Content::random, 1), b({columns, depth}, Content::random, 2);
    const DevicePicture<float> device_a(queue, a), device_b(queue, b);
    Picture<float> expected({columns, rows});
    c63::multiply(a.view(), b.view(), expected.view(), FilterForm::serial);
    for (const auto& [name, variant] : variant_names<ProductVariant>()) {
      const DevicePicture<float> c(queue, Picture<float>({columns, rows}));
      multiply(queue, device_a.const_view(), device_b.const_view(), c.view(), variant);
      const auto got = c.samples.download(queue);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(expected.samples[i], got[i], 1e-5 * 255 * 255 * (depth + 1)) << name;
      }
    }
  }
}

template <typename Sample>
class CudaWhitening : public ::testing::Test {};
using SampleTypes = ::testing::Types<std::uint8_t, float>;
TYPED_TEST_SUITE(CudaWhitening, SampleTypes);

template <typename Sample>
struct DeviceSequence {
  DeviceSequence(const FilterQueue& queue, Size size, int count, Content content) {
    for (int k = 0; k < count; ++k) {
      host.emplace_back(size, content, static_cast<unsigned>(k + 1));
      device.emplace_back(queue, host.back());
    }
  }
  std::vector<BasicPlaneView<const Sample>> views(bool on_device, std::size_t first = 0) const {
    std::vector<BasicPlaneView<const Sample>> all;
    for (std::size_t k = first; k < host.size(); ++k) {
      all.push_back(on_device ? device[k].const_view() : BasicPlaneView<const Sample>(host[k].view()));
    }
    return all;
  }
  std::vector<Picture<Sample>> host;
  std::vector<DevicePicture<Sample>> device;
};

TYPED_TEST(CudaWhitening, EveryShiftVariantHasTheSumsOfTheCpu) {
  C63_NEED_FILTER_GPU();
  using Sample = TypeParam;
  FilterQueue queue;
  for (const Size size : {Size{3, 3}, Size{33, 17}, Size{257, 31}, Size{130, 129}, Size{1000, 5}}) {
    for (const Content content : {Content::largest, Content::alternating, Content::random}) {
      const DeviceSequence<Sample> sequence(queue, size, 70, content);
      const ShiftReference<Sample> reference(sequence.views(false)[0]);
      const auto frames = sequence.views(true);
      for (const auto& [name, variant] : variant_names<ShiftVariant>()) {
        std::vector<ShiftSums> sums(frames.size());
        shift_sums<Sample>(queue, frames[0], frames, sums, variant);
        for (std::size_t k = 0; k < frames.size(); ++k) {
          const ShiftSums expected = reference.sums_of(sequence.views(false)[k]);
          const double tolerance = std::is_same_v<Sample, float> ? 1e-4 * (expected.u + expected.w + 1) : 0;
          ASSERT_NEAR(expected.p, sums[k].p, tolerance) << name << " " << size.width << "x" << size.height;
          ASSERT_NEAR(expected.q, sums[k].q, tolerance) << name;
          ASSERT_NEAR(expected.u, sums[k].u, tolerance) << name;
          ASSERT_NEAR(expected.v, sums[k].v, tolerance) << name;
          ASSERT_NEAR(expected.w, sums[k].w, tolerance) << name;
        }
      }
    }
  }
}

TYPED_TEST(CudaWhitening, IsThatOfTheCpu) {
  C63_NEED_FILTER_GPU();
  using Sample = TypeParam;
  FilterQueue queue;
  for (const Size size : {Size{33, 17}, Size{67, 41}, Size{256, 64}}) {
    for (const int memory : {7, 20, 40}) {
      const DeviceSequence<Sample> sequence(queue, size, memory + 1, Content::random);
      const auto host = sequence.views(false), device = sequence.views(true);
      const ShiftReference<Sample> reference(host[0]);
      for (const auto method : {WhiteningMethod::shift, WhiteningMethod::correlation}) {
        for (const bool reject : {false, true}) {
          WhiteningSettings settings;
          settings.memory = memory;
          settings.method = method;
          settings.degree = 2;
          if (reject) settings.reject = 1.5;
          Picture<float> expected(size);
          whiten<Sample>(reference, host[0], std::span(host).subspan(1), settings, expected.view(),
                         FilterForm::serial);
          WhiteningEngine<Sample> engine(queue, device[0], settings);
          for (int run = 0; run < 2; ++run) {  // the second run uses the buffers as the first one leaves them
            const DevicePicture<float> out(queue, Picture<float>(size));
            engine.whiten(device[0], std::span(device).subspan(1), out.view());
            engine.finish();
            const auto got = out.samples.download(queue);
            for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(expected.samples[i], got[i], 0.02);
          }
          EXPECT_NEAR(engine.shift()->dx, reference.shift_of(host[0])->dx, 1e-4);
        }
      }
    }
  }
}

TYPED_TEST(CudaWhitening, SequencesAreThoseOfTheCpu) {
  C63_NEED_FILTER_GPU();
  using Sample = TypeParam;
  FilterQueue queue;
  WhiteningSettings settings;
  settings.memory = 8;
  settings.degree = 1;
  settings.reject = 3;
  const Size size{61, 33};
  c63::Whitener<Sample> expected_whitener(size.width, size.height, settings);
  Whitener<Sample> whitener(queue, size.width, size.height, settings);
  for (int k = 0; k < 11; ++k) {
    const Picture<Sample> frame(size, Content::random, static_cast<unsigned>(k + 1));
    Picture<float> expected(size), got(size);
    EXPECT_EQ(expected_whitener.push(frame.view(), expected.view()), k >= 8);
    EXPECT_EQ(whitener.push(frame.view(), got.view()), k >= 8);
    for (std::size_t i = 0; i < got.samples.size(); ++i) ASSERT_NEAR(expected.samples[i], got.samples[i], 0.02);
  }
}

TYPED_TEST(CudaWhitening, ReportsWrongArgumentsAndGoesOnAfterwards) {
  C63_NEED_FILTER_GPU();
  using Sample = TypeParam;
  FilterQueue queue;
  const Size size{16, 16};
  const DevicePicture<Sample> flat(queue, Picture<Sample>(size, Content::largest));
  const DeviceSequence<Sample> sequence(queue, size, 4, Content::random);
  const DevicePicture<float> out(queue, Picture<float>(size));
  WhiteningSettings settings;
  settings.memory = 3;
  settings.degree = 0;
  const auto frames = sequence.views(true);
  WhiteningEngine<Sample> textureless(queue, flat.const_view(), settings);
  textureless.whiten(frames[0], std::span(frames).subspan(1), out.view());
  EXPECT_EQ(error_id([&] { textureless.finish(); }), "C63-SHIFT-TEXTURELESS");

  settings.method = WhiteningMethod::correlation;
  settings.epsilon = 0;
  WhiteningEngine<Sample> engine(queue, frames[0], settings);
  const std::vector<BasicPlaneView<const Sample>> same(3, frames[1]);
  engine.whiten(frames[0], same, out.view());
  EXPECT_EQ(error_id([&] { engine.finish(); }), "C63-WHITEN-SINGULAR");
  engine.whiten(frames[0], std::span(frames).subspan(1), out.view());
  EXPECT_EQ(error_id([&] { engine.finish(); }), "");
  EXPECT_EQ(error_id([&] { engine.whiten(frames[0], std::span(frames).subspan(2), out.view()); }), "C63-WHITEN-MEMORY");
}

}  // namespace
}  // namespace c63::cuda
