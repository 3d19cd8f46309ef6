#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <memory>
#include <vector>

#include "array.h"
#include "c63/frame_source.h"

namespace c63::python {

/// One plane of all frames of a video, in the memory of an array.
struct PlaneRows {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t frame_stride = 0;  ///< bytes from one frame to the next
  std::ptrdiff_t row_stride = 0;    ///< bytes from one row to the next
  std::size_t rows = 1;
  std::size_t row_bytes = 0;

  [[nodiscard]] bool without_gaps() const { return rows <= 1 || row_stride == static_cast<std::ptrdiff_t>(row_bytes); }
};

/// The frames of a video in arrays: uint8 (n, height·3/2, width) with the planes Y, U, V one below the other, or a
/// tuple of three arrays, (n, height, width) and twice (n, height/2, width/2), or (n, frame bytes), or grey planes
/// (n, height, width), whose chroma is 128. Keeps the arrays alive.
class FrameArrays {
 public:
  /// `size` is (width, height) or None. It is needed for (n, frame bytes) and for grey planes.
  /// Throws Error (usage), which says what was given and what was wanted.
  FrameArrays(py::handle frames, py::handle size, std::uintptr_t stream = 0);

  [[nodiscard]] const VideoFormat& format() const { return format_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] bool on_device() const { return arrays_.front().on_device(); }
  [[nodiscard]] const std::array<PlaneRows, 3>& planes() const { return planes_; }
  /// Returns a pointer to the first byte of the first frame if all frames lie one after another without gaps. Otherwise
  /// returns null.
  [[nodiscard]] const std::uint8_t* whole_frames() const;

  /// Returns a source of the frames, for arrays in host memory. This object must outlive the source.
  [[nodiscard]] std::unique_ptr<FrameSource> source() const;

 private:
  void take_linear(py::handle size);
  void take_grey();
  void take_planes();

  std::vector<Array> arrays_;
  VideoFormat format_;
  std::int64_t count_ = 0;
  std::array<PlaneRows, 3> planes_;
  std::vector<std::uint8_t> grey_;  ///< the chroma of grey planes
};

}  // namespace c63::python
