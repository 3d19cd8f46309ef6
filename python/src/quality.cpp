#include "c63/quality.h"

#include <pybind11/stl.h>

#include <array>
#include <utility>
#include <vector>

#include "array.h"
#include "c63/bd_rate.h"
#include "c63/error.h"
#include "c63/filters.h"
#include "frames.h"
#include "interruptible.h"
#include "quality.h"

namespace c63::python {
namespace {

/// The frames of both videos, one beside the other.
class FramePairs {
 public:
  FramePairs(py::handle a, py::handle b, py::handle size) : a_(a, size), b_(b, size) {
    const VideoFormat& x = a_.format();
    const VideoFormat& y = b_.format();
    if (x.width != y.width || x.height != y.height || a_.count() != b_.count()) {
      throw Error(ErrorKind::usage, "C63-ARRAY-SHAPE",
                  "wanted two videos of one size and length, got " + text(a_) + " and " + text(b_));
    }
    for (const FrameArrays* const video : {&a_, &b_}) {
      if (video->on_device()) throw Error(ErrorKind::usage, "C63-ARRAY-DEVICE", "frames: wanted arrays of the host, got one of a GPU");
    }
  }

  [[nodiscard]] const VideoFormat& format() const { return a_.format(); }

  /// Calls visit(a, b) for the frames in order; without the GIL.
  template <typename Visit>
  void for_each(const std::stop_token& stop, Visit&& visit) const {
    const std::size_t bytes = frame_bytes(format().width, format().height);
    const std::unique_ptr<FrameSource> a = a_.source();
    const std::unique_ptr<FrameSource> b = b_.source();
    std::vector<std::uint8_t> a_copy;
    std::vector<std::uint8_t> b_copy;
    for (std::int64_t i = 0; i < a_.count() && !stop.stop_requested(); ++i) {
      visit(frame(*a, i, a_copy, bytes), frame(*b, i, b_copy, bytes));
    }
  }

 private:
  static std::string text(const FrameArrays& video) {
    return std::to_string(video.count()) + " frames of " + std::to_string(video.format().width) + "x" +
           std::to_string(video.format().height);
  }
  static std::span<const std::uint8_t> frame(FrameSource& source, std::int64_t index, std::vector<std::uint8_t>& copy,
                                             std::size_t bytes) {
    if (const auto there = source.in_place(index); !there.empty()) return there;
    copy.resize(bytes);
    static_cast<void>(source.read(index, copy));
    return copy;
  }

  FrameArrays a_;
  FrameArrays b_;
};

/// Y, U, V, and all samples together.
std::array<double, 4> psnr_of(py::handle a, py::handle b, py::handle size) {
  const FramePairs pairs(a, b, size);
  const VideoFormat& format = pairs.format();
  QualityTotals totals;
  run_interruptibly([&](const std::stop_token& stop) {
    std::array<std::uint64_t, 3> samples{};
    for (int p = 0; p < 3; ++p) samples[static_cast<std::size_t>(p)] = plane_bytes(format.width, format.height, p);
    pairs.for_each(stop, [&](std::span<const std::uint8_t> x, std::span<const std::uint8_t> y) {
      const auto x_planes = split_planes(x, format.width, format.height);
      const auto y_planes = split_planes(y, format.width, format.height);
      std::array<std::uint64_t, 3> sse{};
      for (std::size_t p = 0; p < 3; ++p) sse[p] = sum_of_squared_errors(x_planes[p], y_planes[p]);
      totals.add(sse, samples);
    });
  });
  return {totals.psnr_of_plane(0), totals.psnr_of_plane(1), totals.psnr_of_plane(2), totals.psnr_of_all()};
}

std::array<double, 3> ssim_of(py::handle a, py::handle b, py::handle size) {
  const FramePairs pairs(a, b, size);
  QualityTotals totals;
  run_interruptibly([&](const std::stop_token& stop) {
    pairs.for_each(stop, [&](std::span<const std::uint8_t> x, std::span<const std::uint8_t> y) {
      totals.add_ssim(ssim_of_frames(x, y, pairs.format().width, pairs.format().height));
    });
  });
  return {totals.mean_ssim(0), totals.mean_ssim(1), totals.mean_ssim(2)};
}

std::vector<RdPoint> curve_of(const Array& array) {
  array.require_host();
  array.require_dtype("float64");
  array.require_dimensions(2, "points (n, 2) of rate and quality");
  if (array.shape()[1] != 2) array.refuse("C63-ARRAY-SHAPE", "points (n, 2) of rate and quality");
  array.require_contiguous();
  std::vector<RdPoint> points;
  const auto values = array.span<const double>();
  for (std::size_t i = 0; i < values.size(); i += 2) points.push_back({values[i], values[i + 1]});
  return points;
}

/// Rate in percent, quality, and why one of them is missing.
py::tuple bd_rate(py::handle anchor, py::handle test) {
  const BdResult result = bjontegaard_delta(curve_of(Array(anchor, "anchor")), curve_of(Array(test, "test")));
  return py::make_tuple(result.rate_percent, result.quality, result.why_not);
}

template <std::size_t N>
py::tuple tuple_of(const std::array<double, N>& values) {
  py::tuple result(N);
  for (std::size_t i = 0; i < N; ++i) result[i] = values[i];
  return result;
}

}  // namespace

void add_quality(py::module_& module) {
  using namespace py::literals;
  module.def("psnr", [](py::handle a, py::handle b, py::handle size) { return tuple_of(psnr_of(a, b, size)); }, "a"_a, "b"_a,
             "size"_a);
  module.def("bd_rate", bd_rate, "anchor"_a, "test"_a);
  module.def("ssim", [](py::handle a, py::handle b, py::handle size) { return tuple_of(ssim_of(a, b, size)); }, "a"_a, "b"_a,
             "size"_a);
}

}  // namespace c63::python
