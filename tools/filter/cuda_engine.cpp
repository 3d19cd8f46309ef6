#if defined(C63_HAVE_CUDA)

#include <algorithm>
#include <chrono>
#include <vector>

#include "c63/cuda/devices.h"
#include "c63/cuda/filters.h"
#include "c63/error.h"
#include "filter/filter_engine.h"

namespace c63::tools {
namespace {

using cuda::DeviceArray;

class CudaEngine final : public FilterEngine {
 public:
  CudaEngine(int device, std::string variant) : queue_(device), variant_(std::move(variant)) {}

  std::string description() const override {
    const cuda::DeviceInfo& info = cuda::require_device(queue_.device());
    return "cuda:" + std::to_string(info.index) + " " + info.name + ", " + variant_;
  }

  FilterTiming convolve(std::span<const double> signal, std::span<const double> taps, std::span<double> out) override {
    const auto variant = chosen<cuda::ConvolutionVariant>();
    return run([&] { return std::pair(upload(signal), DeviceArray<double>(queue_, out.size())); },
               [&](auto& data) { cuda::convolve(queue_, data.first.const_span(), taps, data.second.span(), variant); },
               [&](auto& data) { download(data.second, out); });
  }
  FilterTiming scan(std::span<const double> values, bool inclusive, std::span<double> out) override {
    const auto variant = chosen<cuda::ScanVariant>();
    return run([&] { return std::pair(upload(values), DeviceArray<double>(queue_, out.size())); },
               [&](auto& data) {
                 inclusive ? cuda::inclusive_scan<double>(queue_, data.first.const_span(), data.second.span(), variant)
                           : cuda::exclusive_scan<double>(queue_, data.first.const_span(), data.second.span(), variant);
               },
               [&](auto& data) { download(data.second, out); });
  }
  FilterTiming reduce(std::span<const double> values, ReductionKind kind, double& result) override {
    const auto variant = chosen<cuda::ReductionVariant>();
    if (kind == ReductionKind::argmin || kind == ReductionKind::argmax) {
      std::uint64_t place = 0;
      const auto timing = run(
          [&] { return std::pair(upload(values), DeviceArray<std::uint64_t>(queue_, 1)); },
          [&](auto& data) {
            const auto in = data.first.const_span();
            kind == ReductionKind::argmin ? cuda::argmin<double>(queue_, in, data.second.data(), variant)
                                          : cuda::argmax<double>(queue_, in, data.second.data(), variant);
          },
          [&](auto& data) { download(data.second, std::span(&place, 1)); });
      result = static_cast<double>(place);
      return timing;
    }
    return run([&] { return std::pair(upload(values), DeviceArray<double>(queue_, 1)); },
               [&](auto& data) {
                 const auto in = data.first.const_span();
                 switch (kind) {
                   case ReductionKind::sum: return cuda::sum<double>(queue_, in, data.second.data(), variant);
                   case ReductionKind::minimum: return cuda::minimum<double>(queue_, in, data.second.data(), variant);
                   default: return cuda::maximum<double>(queue_, in, data.second.data(), variant);
                 }
               },
               [&](auto& data) { download(data.second, std::span(&result, 1)); });
  }
  FilterTiming histogram(std::span<const std::uint8_t> bytes, const BinMap& map,
                         std::span<std::uint64_t> counts) override {
    const auto variant = chosen<cuda::HistogramVariant>();
    return run([&] { return std::pair(upload(bytes), DeviceArray<std::uint64_t>(queue_, counts.size())); },
               [&](auto& data) { cuda::histogram(queue_, data.first.const_span(), map, data.second.span(), variant); },
               [&](auto& data) { download(data.second, counts); });
  }
  FilterTiming convolve(ConstPlaneView in, const ByteKernel& kernel, PlaneView out) override {
    const auto variant = chosen<cuda::Convolution2dVariant>();
    const std::vector<std::uint8_t> samples = rows_of(in);
    std::vector<std::uint8_t> result(samples.size());
    const auto timing = run(
        [&] {
          return std::pair(upload(std::span<const std::uint8_t>(samples)),
                           DeviceArray<std::uint8_t>(queue_, samples.size()));
        },
        [&](auto& data) {
          cuda::convolve(queue_, ConstPlaneView{data.first.data(), in.width, in.height, in.width}, kernel,
                         PlaneView{data.second.data(), in.width, in.height, in.width}, variant);
        },
        [&](auto& data) { download(data.second, std::span(result)); });
    for (int y = 0; y < out.height; ++y) {
      std::copy_n(result.begin() + static_cast<std::ptrdiff_t>(y) * in.width, in.width, out.row(y));
    }
    return timing;
  }
  FilterTiming shift(ConstPlaneView reference, ConstPlaneView frame, std::optional<FrameShift>& result) override {
    const auto variant = chosen<cuda::ShiftVariant>();
    const std::vector<std::uint8_t> first = rows_of(reference);
    const std::vector<std::uint8_t> second = rows_of(frame);
    const auto view = [](const DeviceArray<std::uint8_t>& array, ConstPlaneView like) {
      return ConstPlaneView{array.data(), like.width, like.height, like.width};
    };
    ShiftSums sums;
    const auto timing = run(
        [&] {
          return std::pair(upload(std::span<const std::uint8_t>(first)),
                           upload(std::span<const std::uint8_t>(second)));
        },
        [&](auto& data) {
          const ConstPlaneView other = view(data.second, frame);
          cuda::shift_sums(queue_, view(data.first, reference), std::span(&other, 1),
                                         std::span(&sums, 1), variant);
        },
        [](auto&) {});
    result = shift_from(sums);
    return timing;
  }
  bool whiten(ConstPlaneView frame, const WhiteningSettings& settings, BasicPlaneView<float> out,
              FilterTiming& timing) override {
    if (variant_ != "best") unknown("best");
    if (!whitener_) whitener_.emplace(queue_, frame.width, frame.height, settings);
    const auto start = std::chrono::steady_clock::now();
    const bool written = whitener_->push(frame, out);
    timing.total_ms = milliseconds_since(start);
    timing.compute_ms = timing.total_ms;
    return written;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  static std::vector<std::uint8_t> rows_of(ConstPlaneView in) {
    std::vector<std::uint8_t> samples;
    for (int y = 0; y < in.height; ++y) samples.insert(samples.end(), in.row(y), in.row(y) + in.width);
    return samples;
  }

  template <typename T>
  DeviceArray<T> upload(std::span<const T> host) {
    return DeviceArray<T>(queue_, host);
  }
  template <typename T>
  void download(const DeviceArray<T>& from, std::span<T> to) {
    queue_.download(to.data(), from.data(), to.size_bytes());
  }

  /// Runs once to warm up. Then measures the time of the upload, the work and the download.
  template <typename Prepare, typename Work, typename Finish>
  FilterTiming run(const Prepare& prepare, const Work& work, const Finish& finish) {
    {
      auto data = prepare();
      work(data);
      queue_.synchronize();
    }
    FilterTiming timing;
    const auto start = Clock::now();
    auto data = prepare();
    queue_.synchronize();
    const auto begun = Clock::now();
    work(data);
    queue_.synchronize();
    timing.compute_ms = milliseconds_since(begun);
    finish(data);
    timing.total_ms = milliseconds_since(start);
    return timing;
  }

  [[noreturn]] void unknown(const std::string& known) const {
    throw Error(ErrorKind::usage, "C63-FILTER-VARIANT",
                "this filter has no variant '" + variant_ + "' on a GPU; it has " + known);
  }

  template <typename Variant>
  Variant chosen() const {
    std::string known;
    for (const auto& [name, variant] : cuda::variant_names<Variant>()) {
      if (name == variant_) return variant;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    unknown(known);
  }

  cuda::FilterQueue queue_;
  std::string variant_;
  std::optional<cuda::Whitener> whitener_;
};

}  // namespace

std::unique_ptr<FilterEngine> make_cuda_engine(int device, const std::string& variant) {
  return std::make_unique<CudaEngine>(device, variant);
}

}  // namespace c63::tools

#endif
