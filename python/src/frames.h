#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <memory>
#include <optional>
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

/// Frames in arrays, as a source: uint8 (n, height·3/2, width) with the planes Y, U, V one below the other, or a tuple of
/// three arrays, (n, height, width) and twice (n, height/2, width/2), or (n, frame bytes), or grey planes (n, height, width),
/// whose chroma is 128. Keeps the arrays alive.
class ArraySource {
 public:
  /// `size` is (width, height) or None. It is needed for (n, frame bytes) and for grey planes. `stream` is the handle of the
  /// CUDA stream on which arrays of a GPU are computed. Throws Error: usage, which says what was given and what was wanted;
  /// device if the arrays are on a GPU and none can be used.
  ArraySource(py::handle frames, py::handle size, std::uintptr_t stream);

  [[nodiscard]] FrameSource& source() { return *source_; }
  [[nodiscard]] const VideoFormat& format() const { return format_; }
  /// Returns the index of the GPU that holds the frames. Empty: they are in host memory.
  [[nodiscard]] std::optional<int> device() const { return device_; }

 private:
  void take_linear(py::handle size);
  void take_grey();
  void take_planes();
  /// Returns a pointer to the first byte of the first frame if all frames lie one after another without gaps. Otherwise
  /// returns null.
  [[nodiscard]] const std::uint8_t* whole_frames() const;
  void open_on_device(std::uintptr_t stream);

  std::vector<Array> arrays_;
  VideoFormat format_;
  std::int64_t count_ = 0;
  std::array<PlaneRows, 3> planes_;
  std::vector<std::uint8_t> grey_;  ///< the chroma of grey planes
  std::unique_ptr<FrameSource> source_;
  std::optional<int> device_;
};

}  // namespace c63::python
