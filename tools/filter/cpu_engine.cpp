#include <chrono>

#include "c63/error.h"
#include "filter/filter_engine.h"

namespace c63::tools {
namespace {

class CpuEngine final : public FilterEngine {
 public:
  explicit CpuEngine(FilterForm form) : form_(form) {}

  std::string description() const override { return form_ == FilterForm::serial ? "cpu, serial" : "cpu, fast"; }

  FilterTiming convolve(std::span<const double> signal, std::span<const double> taps, std::span<double> out) override {
    return timed([&] { c63::convolve(signal, taps, out, form_); });
  }
  FilterTiming scan(std::span<const double> values, bool inclusive, std::span<double> out) override {
    return timed([&] {
      inclusive ? inclusive_scan<double>(values, out, form_) : exclusive_scan<double>(values, out, form_);
    });
  }
  FilterTiming reduce(std::span<const double> values, ReductionKind kind, double& result) override {
    return timed([&] {
      switch (kind) {
        case ReductionKind::sum: result = sum<double>(values, form_); break;
        case ReductionKind::minimum: result = minimum<double>(values, form_); break;
        case ReductionKind::maximum: result = maximum<double>(values, form_); break;
        case ReductionKind::argmin: result = static_cast<double>(argmin<double>(values, form_)); break;
        case ReductionKind::argmax: result = static_cast<double>(argmax<double>(values, form_)); break;
      }
    });
  }
  FilterTiming histogram(std::span<const std::uint8_t> bytes, const BinMap& map,
                         std::span<std::uint64_t> counts) override {
    return timed([&] { c63::histogram(bytes, map, counts, form_); });
  }
  FilterTiming convolve(ConstPlaneView in, const ByteKernel& kernel, PlaneView out) override {
    return timed([&] { c63::convolve(in, kernel, out, form_); });
  }
  FilterTiming shift(ConstPlaneView reference, ConstPlaneView frame, std::optional<FrameShift>& result) override {
    return timed([&] { result = estimate_shift<std::uint8_t>(reference, frame, form_); });
  }
  bool whiten(ConstPlaneView frame, const WhiteningSettings& settings, BasicPlaneView<float> out,
              FilterTiming& timing) override {
    if (!whitener_) whitener_.emplace(frame.width, frame.height, settings, form_);
    bool written = false;
    timing = timed([&] { written = whitener_->push(frame, out); });
    return written;
  }

 private:
  template <typename Work>
  static FilterTiming timed(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return {ms, ms};
  }

  FilterForm form_;
  std::optional<Whitener<std::uint8_t>> whitener_;
};

}  // namespace

std::unique_ptr<FilterEngine> make_cpu_engine(const std::string& variant) {
  if (variant == "serial") return std::make_unique<CpuEngine>(FilterForm::serial);
  if (variant == "fast" || variant == "best") return std::make_unique<CpuEngine>(FilterForm::fast);
  throw Error(ErrorKind::usage, "C63-FILTER-VARIANT",
              "the CPU has no variant '" + variant + "'; it has serial and fast");
}

#if !defined(C63_HAVE_CUDA)
std::unique_ptr<FilterEngine> make_cuda_engine(int, const std::string&) {
  throw Error(ErrorKind::device, "C63-CUDA-NO-CODE", "this c63 was built without CUDA");
}
#endif

}  // namespace c63::tools
