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
    return run(signal, out, [&](auto& from, auto& to) { cuda::convolve(queue_, from.const_span(), taps, to.span(), variant); });
  }
  FilterTiming scan(std::span<const double> values, bool inclusive, std::span<double> out) override {
    const auto variant = chosen<cuda::ScanVariant>();
    return run(values, out, [&](auto& from, auto& to) {
      inclusive ? cuda::inclusive_scan<double>(queue_, from.const_span(), to.span(), variant)
                : cuda::exclusive_scan<double>(queue_, from.const_span(), to.span(), variant);
    });
  }
  FilterTiming reduce(std::span<const double> values, ReductionKind kind, double& result) override {
    const auto variant = chosen<cuda::ReductionVariant>();
    std::uint64_t place = 0;
    const auto find = [&](auto function) {
      const auto timing = run(values, std::span(&place, 1),
                              [&](auto& from, auto& to) { function(queue_, from.const_span(), to.data(), variant); });
      result = static_cast<double>(place);
      return timing;
    };
    const auto reduce_to = [&](auto function) {
      return run(values, std::span(&result, 1),
                 [&](auto& from, auto& to) { function(queue_, from.const_span(), to.data(), variant); });
    };
    switch (kind) {
      case ReductionKind::sum: return reduce_to(cuda::sum<double>);
      case ReductionKind::minimum: return reduce_to(cuda::minimum<double>);
      case ReductionKind::maximum: return reduce_to(cuda::maximum<double>);
      case ReductionKind::argmin: return find(cuda::argmin<double>);
      default: return find(cuda::argmax<double>);
    }
  }
  FilterTiming histogram(std::span<const std::uint8_t> bytes, const BinMap& map,
                         std::span<std::uint64_t> counts) override {
    const auto variant = chosen<cuda::HistogramVariant>();
    return run(bytes, counts,
               [&](auto& from, auto& to) { cuda::histogram(queue_, from.const_span(), map, to.span(), variant); });
  }
  FilterTiming convolve(ConstPlaneView in, const ByteKernel& kernel, PlaneView out) override {
    const auto variant = chosen<cuda::Convolution2dVariant>();
    const auto size = static_cast<std::size_t>(in.width) * static_cast<std::size_t>(in.height);  // rows have no gaps
    return run(std::span(in.data, size), std::span(out.data, size), [&](auto& from, auto& to) {
      cuda::convolve(queue_, ConstPlaneView{from.data(), in.width, in.height, in.width}, kernel,
                     PlaneView{to.data(), in.width, in.height, in.width}, variant);
    });
  }
  FilterTiming shift(ConstPlaneView reference, ConstPlaneView frame, std::optional<FrameShift>& result) override {
    const auto variant = chosen<cuda::ShiftVariant>();
    std::vector<std::uint8_t> samples;  // of both
    append(samples, reference);
    append(samples, frame);
    ShiftSums sums;
    std::uint8_t unused = 0;
    const auto timing = run<std::uint8_t, std::uint8_t>(samples, std::span(&unused, 1), [&](auto& from, auto&) {
      const auto first = static_cast<std::size_t>(reference.width) * static_cast<std::size_t>(reference.height);
      const ConstPlaneView other{from.data() + first, frame.width, frame.height, frame.width};
      cuda::shift_sums(queue_, ConstPlaneView{from.data(), reference.width, reference.height, reference.width},
                       std::span(&other, 1), std::span(&sums, 1), variant);
    });
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

  static void append(std::vector<std::uint8_t>& samples, ConstPlaneView plane) {
    for (int y = 0; y < plane.height; ++y) samples.insert(samples.end(), plane.row(y), plane.row(y) + plane.width);
  }

  /// Runs once to warm up. Then measures the time of the upload, the work and the download. `work` gets the arrays on the
  /// device.
  template <typename In, typename Out, typename Work>
  FilterTiming run(std::span<const In> in, std::span<Out> out, const Work& work) {
    {
      DeviceArray<In> from(queue_, in);
      DeviceArray<Out> to(queue_, out.size());
      work(from, to);
      queue_.synchronize();
    }
    FilterTiming timing;
    const auto start = Clock::now();
    DeviceArray<In> from(queue_, in);
    DeviceArray<Out> to(queue_, out.size());
    queue_.synchronize();
    const auto begun = Clock::now();
    work(from, to);
    queue_.synchronize();
    timing.compute_ms = milliseconds_since(begun);
    queue_.download(out.data(), to.data(), out.size_bytes());
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
