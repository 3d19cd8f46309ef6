#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "c63/frame_source.h"
#include "frames.h"

namespace c63::python {

/// A source of frames in GPU memory, and the index of that GPU.
struct DeviceVideo {
  std::unique_ptr<FrameSource> source;
  int device = 0;
};

/// Returns a source of the frames in `arrays`, which must outlive it. `stream` is the handle of the CUDA stream on
/// which the arrays are computed. Throws Error (device) if no GPU can be used.
[[nodiscard]] DeviceVideo device_video(const FrameArrays& arrays, std::uintptr_t stream);

/// Makes and owns a frame source that reads from arrays, and keeps the arrays alive.
class ArraySource {
 public:
  ArraySource(py::handle frames, py::handle size, std::uintptr_t stream) : arrays_(frames, size, stream) {
    if (arrays_.on_device()) {
      DeviceVideo video = device_video(arrays_, stream);
      source_ = std::move(video.source);
      device_ = video.device;
    } else {
      source_ = arrays_.source();
    }
  }

  [[nodiscard]] FrameSource& source() { return *source_; }
  [[nodiscard]] const VideoFormat& format() const { return arrays_.format(); }
  [[nodiscard]] std::optional<int> device() const { return device_; }

 private:
  FrameArrays arrays_;
  std::unique_ptr<FrameSource> source_;
  std::optional<int> device_;
};

}  // namespace c63::python
