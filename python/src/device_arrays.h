#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

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

/// Adds estimate_motion_on_device() to the module.
void add_device_motion(pybind11::module_& module);

}  // namespace c63::python
