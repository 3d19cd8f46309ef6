// Compares every variant of the picture filters on a GPU with the serial form on the CPU, at odd sizes and with gaps
// between rows.
#include <cmath>

#include "filters_test_support.h"

namespace c63::cuda {
namespace {

class CudaPictures : public FilterTest {};
C63_INSTANTIATE_FILTER_TESTS(CudaPictures);

void expect_close(const Picture<float>& expected, const std::vector<float>& got, double tolerance,
                  std::string_view name) {
  ASSERT_EQ(expected.samples.size(), got.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(expected.samples[i], got[i], tolerance) << name;
}

TEST_P(CudaPictures, ConvolutionsOfBytesAreExact) {
  FilterQueue& queue = this->queue();
  ByteKernel uneven;
  uneven.size = 5;
  uneven.taps = make_values<std::int32_t>(25, Content::random, 3, 50);
  uneven.divisor = 37;
  for (const Size size : sizes()) {
    for (const Content content : contents()) {
      const Picture<std::uint8_t> in(size, content);
      const DevicePicture<std::uint8_t> device_in(queue, in);
      for (const ByteKernel& kernel : {uneven, mean_kernel(1), mean_kernel(31), gauss_kernel(1.3), gauss_kernel(5)}) {
        Picture<std::uint8_t> expected(size);
        c63::convolve(in.view(), kernel, expected.view(), FilterForm::serial);
        for (const auto& [name, variant] : variant_names<Convolution2dVariant>()) {
          const DevicePicture<std::uint8_t> out(queue, Picture<std::uint8_t>(size));
          if (variant == Convolution2dVariant::separable && !kernel.separable()) {
            EXPECT_EQ(error_id([&, v = variant] { convolve(queue, device_in.const_view(), kernel, out.view(), v); }),
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

TEST_P(CudaPictures, ConvolutionsOfFloatsAreClose) {
  FilterQueue& queue = this->queue();
  const auto factor = make_values<float>(9, Content::random, 6);
  const FloatKernel kernel = separable_kernel<float>(factor, factor, 2);
  double magnitude = 0;
  for (const float tap : kernel.taps) magnitude += std::abs(tap);
  for (const Size size : sizes()) {
    const Picture<float> in(size, Content::random);
    const DevicePicture<float> device_in(queue, in);
    Picture<float> expected(size);
    c63::convolve(in.view(), kernel, expected.view(), FilterForm::serial);
    for (const auto& [name, variant] : variant_names<Convolution2dVariant>()) {
      const DevicePicture<float> out(queue, Picture<float>(size));
      convolve(queue, device_in.const_view(), kernel, out.view(), variant);
      expect_close(expected, out.samples.download(queue), 1e-5 * magnitude * 255 / 2, name);
    }
  }
}

TEST_P(CudaPictures, ProductsAreCloseAtOddSizes) {
  FilterQueue& queue = this->queue();
  for (const auto& [rows, depth, columns] : std::vector<std::array<int, 3>>{
           {1, 1, 1}, {3, 0, 5}, {0, 3, 2}, {17, 33, 31}, {3, 129, 257}, {130, 300, 70}, {64, 64, 64}}) {
    if (few() && rows != 17) continue;
    const Picture<float> a({depth, rows}, Content::random, 1), b({columns, depth}, Content::random, 2);
    const DevicePicture<float> device_a(queue, a), device_b(queue, b);
    Picture<float> expected({columns, rows});
    c63::multiply(a.view(), b.view(), expected.view(), FilterForm::serial);
    for (const auto& [name, variant] : variant_names<ProductVariant>()) {
      const DevicePicture<float> c(queue, Picture<float>({columns, rows}));
      multiply(queue, device_a.const_view(), device_b.const_view(), c.view(), variant);
      expect_close(expected, c.samples.download(queue), 1e-5 * 255 * 255 * (depth + 1), name);
    }
  }
}

struct DeviceSequence {
  DeviceSequence(const FilterQueue& queue, Size size, int count, Content content) {
    for (int k = 0; k < count; ++k) {
      host.emplace_back(size, content, static_cast<unsigned>(k + 1));
      device.emplace_back(queue, host.back());
    }
  }
  std::vector<ConstPlaneView> views(bool on_device, std::size_t first = 0) const {
    std::vector<ConstPlaneView> all;
    for (std::size_t k = first; k < host.size(); ++k) {
      all.push_back(on_device ? device[k].const_view() : ConstPlaneView(host[k].view()));
    }
    return all;
  }
  std::vector<Picture<std::uint8_t>> host;
  std::vector<DevicePicture<std::uint8_t>> device;
};

TEST_P(CudaPictures, ShiftsHaveTheSumsOfTheCpu) {
  FilterQueue& queue = this->queue();
  for (const Size size : {Size{3, 3}, Size{33, 17}, Size{257, 31}, Size{130, 129}, Size{1000, 5}}) {
    if (few() && size.width != 33) continue;
    for (const Content content : {Content::largest, Content::alternating, Content::random}) {
      const DeviceSequence sequence(queue, size, 70, content);
      const ShiftReference<std::uint8_t> reference(sequence.views(false)[0]);
      const auto frames = sequence.views(true);
      for (const auto& [name, variant] : variant_names<ShiftVariant>()) {
        std::vector<ShiftSums> sums(frames.size());
        shift_sums(queue, frames[0], frames, sums, variant);
        for (std::size_t k = 0; k < frames.size(); ++k) {
          const auto five = [](const ShiftSums& s) { return std::array{s.p, s.q, s.u, s.v, s.w}; };
          ASSERT_EQ(five(reference.sums_of(sequence.views(false)[k])), five(sums[k]))
              << name << " " << size.width << "x" << size.height;
        }
      }
    }
  }
}

TEST_P(CudaPictures, WhiteningIsThatOfTheCpu) {
  FilterQueue& queue = this->queue();
  for (const Size size : {Size{33, 17}, Size{67, 41}, Size{256, 64}}) {
    for (const int memory : {7, 20, 40}) {
      if (few() && (size.width != 67 || memory != 7)) continue;
      const DeviceSequence sequence(queue, size, memory + 1, Content::random);
      const auto host = sequence.views(false), device = sequence.views(true);
      const ShiftReference<std::uint8_t> reference(host[0]);
      for (const auto method : {WhiteningMethod::shift, WhiteningMethod::correlation}) {
        for (const bool reject : {false, true}) {
          WhiteningSettings settings;
          settings.memory = memory;
          settings.method = method;
          settings.degree = 2;
          if (reject) settings.reject = 1.5;
          Picture<float> expected(size);
          whiten<std::uint8_t>(reference, host[0], std::span(host).subspan(1), settings, expected.view(),
                         FilterForm::serial);
          WhiteningEngine engine(queue, device[0], settings);
          for (int run = 0; run < 2; ++run) {  // the second run uses the buffers as the first one leaves them
            const DevicePicture<float> out(queue, Picture<float>(size));
            engine.whiten(device[0], std::span(device).subspan(1), out.view());
            engine.finish();
            expect_close(expected, out.samples.download(queue), 0.02, "whitened");
          }
          EXPECT_NEAR(engine.shift()->dx, reference.shift_of(host[0])->dx, 1e-4);
        }
      }
    }
  }
}

TEST_P(CudaPictures, WhitenedSequencesAreThoseOfTheCpu) {
  FilterQueue& queue = this->queue();
  WhiteningSettings settings;
  settings.memory = 8;
  settings.degree = 1;
  settings.reject = 3;
  const Size size{61, 33};
  c63::Whitener<std::uint8_t> expected_whitener(size.width, size.height, settings);
  Whitener whitener(queue, size.width, size.height, settings);
  for (int k = 0; k < 11; ++k) {
    const Picture<std::uint8_t> frame(size, Content::random, static_cast<unsigned>(k + 1));
    Picture<float> expected(size), got(size);
    EXPECT_EQ(expected_whitener.push(frame.view(), expected.view()), k >= 8);
    EXPECT_EQ(whitener.push(frame.view(), got.view()), k >= 8);
    expect_close(expected, got.samples, 0.02, "whitened");
  }
}

TEST_P(CudaPictures, WhiteningReportsWrongArgumentsAndGoesOnAfterwards) {
  FilterQueue& queue = this->queue();
  const Size size{16, 16};
  const DevicePicture<std::uint8_t> flat(queue, Picture<std::uint8_t>(size, Content::largest));
  const DeviceSequence sequence(queue, size, 4, Content::random);
  const DevicePicture<float> out(queue, Picture<float>(size));
  WhiteningSettings settings;
  settings.memory = 3;
  settings.degree = 0;
  const auto frames = sequence.views(true);
  WhiteningEngine textureless(queue, flat.const_view(), settings);
  textureless.whiten(frames[0], std::span(frames).subspan(1), out.view());
  EXPECT_EQ(error_id([&] { textureless.finish(); }), "C63-SHIFT-TEXTURELESS");

  settings.method = WhiteningMethod::correlation;
  settings.epsilon = 0;
  WhiteningEngine engine(queue, frames[0], settings);
  const std::vector<ConstPlaneView> same(3, frames[1]);
  engine.whiten(frames[0], same, out.view());
  EXPECT_EQ(error_id([&] { engine.finish(); }), "C63-WHITEN-SINGULAR");
  engine.whiten(frames[0], std::span(frames).subspan(1), out.view());
  EXPECT_EQ(error_id([&] { engine.finish(); }), "");
  EXPECT_EQ(error_id([&] { engine.whiten(frames[0], std::span(frames).subspan(2), out.view()); }), "C63-WHITEN-MEMORY");
}

}  // namespace
}  // namespace c63::cuda
