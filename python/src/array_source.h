#pragma once

#include <memory>
#include <optional>

#include "c63/frame_source.h"
#include "device_arrays.h"
#include "frames.h"

namespace c63::python {

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
