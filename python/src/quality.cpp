#include "c63/quality.h"

#include <pybind11/stl.h>

#include <array>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "array.h"
#include "c63/bd_rate.h"
#include "c63/error.h"
#include "c63/filters.h"
#include "module.h"
#include "threads.h"
#include "video_input.h"

namespace c63::python {
namespace {

std::string text_of(const VideoFormat& format, std::optional<std::int64_t> count) {
  return (count ? std::to_string(*count) + " frames" : std::string("frames")) + " of " + std::to_string(format.width) +
         "x" + std::to_string(format.height);
}

/// Returns frame `index`, in place if possible, otherwise read into `copy`. Returns an empty span after the last frame.
std::span<const std::uint8_t> frame_at(FrameSource& source, std::int64_t index, std::vector<std::uint8_t>& copy) {
  if (source.in_host_memory()) {
    if (const auto there = source.in_place(index); !there.empty()) return there;
  }
  const VideoFormat format = source.format();
  copy.resize(frame_bytes(format.width, format.height));
  if (!source.read(index, copy)) return {};
  return copy;
}

/// Calls visit(a, b, format) for each frame of two videos, in order and without the GIL. Throws Error: usage if the
/// videos differ in size or length, input if they have no frames.
template <typename Visit>
void for_each_pair(VideoInput& x, VideoInput& y, Visit&& visit) {
  std::set<VideoReader*>
      readers;  // each once, and in the same order for all threads, so that two cannot block each other
  for (const VideoInput* const video : {&x, &y}) {
    if (video->reader() != nullptr) readers.insert(video->reader());
  }
  std::vector<std::unique_lock<std::mutex>> locks;
  for (VideoReader* const reader : readers) locks.push_back(reader->use());
  run_interruptibly([&](const std::stop_token& stop) {
    const std::stop_callback wake(stop, [&] {
      x.stop();
      y.stop();
    });
    FrameSource& from_a = x.from_start(false);
    FrameSource& from_b = y.from_start(false);
    const VideoFormat format = from_a.format();
    const auto refuse = [&](std::optional<std::int64_t> a_count, std::optional<std::int64_t> b_count) {
      throw Error(ErrorKind::usage, "C63-ARRAY-SHAPE",
                  "wanted two videos of one size and length, got " + text_of(format, a_count) + " and " +
                      text_of(from_b.format(), b_count));
    };
    const auto a_count = from_a.frame_count();
    const auto b_count = from_b.frame_count();
    if (format.width != from_b.format().width || format.height != from_b.format().height ||
        (a_count && b_count && *a_count != *b_count)) {
      refuse(a_count, b_count);
    }
    const VideoFormat compared = compared_format(format, from_b.format());
    std::vector<std::uint8_t> a_copy;
    std::vector<std::uint8_t> b_copy;
    for (std::int64_t i = 0; !stop.stop_requested(); ++i) {
      const auto a_frame = frame_at(from_a, i, a_copy);
      const auto b_frame = frame_at(from_b, i, b_copy);
      if (stop.stop_requested()) return;
      if (a_frame.empty() != b_frame.empty()) {
        a_frame.empty() ? refuse(i, b_count) : refuse(a_count, i);
      }
      if (a_frame.empty() && i == 0) throw Error(ErrorKind::input, "C63-NO-FRAMES", "the input has no whole frame");
      if (a_frame.empty()) return;
      visit(a_frame, b_frame, compared);
    }
  });
}

/// Returns the PSNR of Y, of U, of V, and of all samples together, in dB.
std::array<double, 4> psnr_of(VideoInput& a, VideoInput& b) {
  QualityTotals totals;
  for_each_pair(a, b,
                [&](std::span<const std::uint8_t> x, std::span<const std::uint8_t> y, const VideoFormat& format) {
                  totals.add(sse_of_frames(x, y, format), measured_samples(format));
                });
  return {totals.psnr_of_plane(0), totals.psnr_of_plane(1), totals.psnr_of_plane(2), totals.psnr_of_all()};
}

std::array<double, 3> ssim_of(VideoInput& a, VideoInput& b) {
  QualityTotals totals;
  for_each_pair(a, b,
                [&](std::span<const std::uint8_t> x, std::span<const std::uint8_t> y, const VideoFormat& format) {
                  totals.add_ssim(ssim_of_frames(x, y, format));
                });
  return {totals.mean_ssim(0), totals.mean_ssim(1), totals.mean_ssim(2)};
}

/// Returns a function for Python, with the arguments of two videos, that calls `measure` with these.
template <typename Measure>
auto of_two(Measure measure) {
  return [measure](py::handle a, py::handle a_size, std::uintptr_t a_stream, py::handle b, py::handle b_size, std::uintptr_t b_stream) {
    VideoInput x(a, a_size, a_stream);
    VideoInput y(b, b_size, b_stream);
    return measure(x, y);
  };
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

/// Returns the change of rate in percent, the change of quality, and the reason if one of them is missing.
py::tuple bd_rate(py::handle anchor, py::handle test) {
  const BdResult result = bjontegaard_delta(curve_of(Array(anchor, "anchor")), curve_of(Array(test, "test")));
  return py::make_tuple(result.rate_percent, result.quality, result.why_not);
}

}  // namespace

void add_quality(py::module_& module) {
  using namespace py::literals;
  module.def("psnr", of_two(psnr_of));
  module.def("ssim", of_two(ssim_of));
  module.def("bd_rate", bd_rate, "anchor"_a, "test"_a);
}

}  // namespace c63::python
