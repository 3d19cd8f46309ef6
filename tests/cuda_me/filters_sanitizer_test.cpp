// Runs every kernel of the filters at least once, for tools/gpu_check, which runs this program in compute-sanitizer.
// Because that is slow, the data are small. Their sizes are odd numbers.
#include <cmath>

#include "filters_test_support.h"

namespace c63::cuda {
namespace {

constexpr std::array<std::size_t, 3> kFew = {1, 257, 5003};

TEST(CudaFilters, SignalsSmallForSanitizers) {
  C63_NEED_FILTER_GPU();
  FilterQueue queue;
  for (const std::size_t length : kFew) {
    const auto signal = make_values<double>(length, Content::random);
    std::vector<double> filtered(length);
    c63::mean_filter(signal, 5, filtered, FilterForm::serial);
    for (const auto& [name, variant] : variant_names<ConvolutionVariant>()) {
      const Offset<double> in(queue, signal, 0), out(queue, length, 0);
      mean_filter(queue, in.const_span(), 5, out.span(), variant);
      EXPECT_EQ(filtered, out.download(queue)) << name << ", " << length;
    }
    const auto bytes = make_values<std::uint8_t>(length, Content::random);
    std::vector<std::uint64_t> counted(256);
    c63::histogram(bytes, BinMap::identity(), counted, FilterForm::serial);
    for (const auto& [name, variant] : variant_names<HistogramVariant>()) {
      const Offset<std::uint8_t> in(queue, bytes, 0);
      const Offset<std::uint64_t> counts(queue, counted.size(), 0);
      histogram(queue, in.const_span(), BinMap::identity(), counts.span(), variant);
      EXPECT_EQ(counted, counts.download(queue)) << name << ", " << length;
    }
    const auto others = make_values<std::uint8_t>(length, Content::random, 2);
    for (const std::size_t offset : {0, 1}) {  // 0: as aligned as the other input; 1: shifted by one value
      const Offset<std::uint8_t> a(queue, bytes, 0), b(queue, others, offset);
      const DeviceArray<std::uint64_t> errors(queue, 1);
      sum_of_squared_errors(queue, a.const_span(), b.const_span(), errors.data());
      EXPECT_EQ(errors.download(queue)[0], c63::sum_of_squared_errors(bytes, others, FilterForm::serial)) << length;
    }
    const auto values = make_values<std::int32_t>(length, Content::random, 3, 1'000'000);
    std::vector<std::int32_t> scanned(length);
    c63::inclusive_scan<std::int32_t>(values, scanned, FilterForm::serial);
    const Offset<std::int32_t> in(queue, values, 0);
    for (const auto& [name, variant] : variant_names<ScanVariant>()) {
      const Offset<std::int32_t> out(queue, length, 0);
      inclusive_scan<std::int32_t>(queue, in.const_span(), out.span(), variant);
      EXPECT_EQ(scanned, out.download(queue)) << name << ", " << length;
    }
    for (const auto& [name, variant] : variant_names<ReductionVariant>()) {
      const DeviceArray<std::int64_t> total(queue, 1);
      sum<std::int32_t>(queue, in.const_span(), total.data(), variant);
      EXPECT_EQ(total.download(queue)[0], c63::sum<std::int32_t>(values, FilterForm::serial)) << name;
      const DeviceArray<std::uint64_t> place(queue, 1);
      argmin<std::int32_t>(queue, in.const_span(), place.data(), variant);
      EXPECT_EQ(place.download(queue)[0], c63::argmin<std::int32_t>(values, FilterForm::serial)) << name;
      argmax<std::int32_t>(queue, in.const_span(), place.data(), variant);
      EXPECT_EQ(place.download(queue)[0], c63::argmax<std::int32_t>(values, FilterForm::serial)) << name;
    }
  }
}

TEST(CudaFilters, PicturesSmallForSanitizers) {
  C63_NEED_FILTER_GPU();
  FilterQueue queue;
  const Size size{67, 19};
  const Picture<std::uint8_t> picture(size, Content::random);
  const DevicePicture<std::uint8_t> in(queue, picture);
  Picture<std::uint8_t> convolved(size);
  c63::convolve(picture.view(), mean_kernel(5), convolved.view(), FilterForm::serial);
  for (const auto& [name, variant] : variant_names<Convolution2dVariant>()) {
    const DevicePicture<std::uint8_t> out(queue, Picture<std::uint8_t>(size));
    convolve(queue, in.const_view(), mean_kernel(5), out.view(), variant);
    EXPECT_EQ(convolved.samples, out.samples.download(queue)) << name;
  }
  const Picture<float> a({33, 17}, Content::random, 1), b({21, 33}, Content::random, 2);
  const DevicePicture<float> device_a(queue, a), device_b(queue, b);
  for (const auto& [name, variant] : variant_names<ProductVariant>()) {
    Picture<float> expected({21, 17});
    c63::multiply(a.view(), b.view(), expected.view(), FilterForm::serial);
    const DevicePicture<float> c(queue, Picture<float>({21, 17}));
    multiply(queue, device_a.const_view(), device_b.const_view(), c.view(), variant);
    const auto got = c.samples.download(queue);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(expected.samples[i], got[i], 1e-5 * 255 * 255 * 34) << name;
  }
}

TEST(CudaFilters, WhiteningSmallForSanitizers) {
  C63_NEED_FILTER_GPU();
  FilterQueue queue;
  const Size size{67, 19};
  constexpr int kMemory = 9;
  std::vector<Picture<std::uint8_t>> host;
  std::vector<DevicePicture<std::uint8_t>> device;
  for (unsigned k = 0; k <= kMemory; ++k) {
    host.emplace_back(size, Content::random, k + 1);
    device.emplace_back(queue, host.back());
  }
  std::vector<ConstPlaneView> host_views, device_views;
  for (int k = 0; k <= kMemory; ++k) {
    host_views.push_back(host[k].view());
    device_views.push_back(device[k].const_view());
  }
  const ShiftReference<std::uint8_t> reference(host_views[0]);
  for (const auto& [name, variant] : variant_names<ShiftVariant>()) {
    std::vector<ShiftSums> sums(device_views.size());
    shift_sums<std::uint8_t>(queue, device_views[0], device_views, sums, variant);
    for (std::size_t k = 0; k < sums.size(); ++k) EXPECT_EQ(sums[k].p, reference.sums_of(host_views[k]).p) << name;
  }
  for (const auto method : {WhiteningMethod::shift, WhiteningMethod::correlation}) {
    WhiteningSettings settings;
    settings.memory = kMemory;
    settings.method = method;
    settings.reject = 1.5;
    Picture<float> expected(size);
    whiten<std::uint8_t>(reference, host_views[0], std::span(host_views).subspan(1), settings, expected.view(),
                         FilterForm::serial);
    WhiteningEngine<std::uint8_t> engine(queue, device_views[0], settings);
    const DevicePicture<float> out(queue, Picture<float>(size));
    engine.whiten(device_views[0], std::span(device_views).subspan(1), out.view());
    engine.finish();
    const auto got = out.samples.download(queue);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(expected.samples[i], got[i], 0.02);
  }
}

}  // namespace
}  // namespace c63::cuda
