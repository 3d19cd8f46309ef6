#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "c63/frame_source.h"
#include "frames.h"

namespace c63::python {

/// Frames in GPU memory as a source, and the GPU's index.
struct DeviceVideo {
  std::unique_ptr<FrameSource> source;
  int device = 0;
};

/// `arrays` outlive the source. `stream` is CUDA's handle of the stream that makes them. Throws Error (device) if no
/// GPU can be used.
[[nodiscard]] DeviceVideo device_video(const FrameArrays& arrays, std::uintptr_t stream);

/// Adds estimate_motion_on_device() to the module.
void add_device_motion(pybind11::module_& module);

}  // namespace c63::python
