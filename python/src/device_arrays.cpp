#include "device_arrays.h"

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "array.h"
#include "backends.h"
#include "c63/error.h"
#if defined(C63_HAVE_CUDA)
#include "c63/cuda/device_frames.h"
#include "c63/cuda/motion_estimator.h"
#endif

namespace c63::python {

#if defined(C63_HAVE_CUDA)

namespace {

CUstream_st* handle_of(std::uintptr_t stream) { return reinterpret_cast<CUstream_st*>(stream); }

/// Estimators for a size, range and stream. Each is made once, and its calls share its buffers.
class Estimators {
 public:
  struct Key {
    int width, height, range, device;
    std::uintptr_t stream;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Entry {
    Key key;
    std::mutex mutex;  ///< only one thread may use it at a time
    cuda::MotionEstimator estimator;
    explicit Entry(const Key& k)
        : key(k), estimator({.width = k.width, .height = k.height, .range = k.range, .device = k.device}) {}
  };

  /// Returns the estimator for `key`. The one unused for longest is removed for it.
  std::shared_ptr<Entry> find(const Key& key) {
    constexpr std::size_t kMost = 16;
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(entries_, key, [](const auto& entry) { return entry->key; });
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
    } else {
      entries_.push_front(std::make_shared<Entry>(key));
      if (entries_.size() > kMost) entries_.pop_back();
    }
    return entries_.front();
  }

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;  ///< newest first
};

/// Lives as long as the process: at its end there may be no driver to give memory back to.
Estimators& estimators() {
  static auto* const all = new Estimators;
  return *all;
}

cuda::MotionPlane plane_of(const Array& array) {
  if (!array.on_device()) array.refuse("C63-ARRAY-DEVICE", "an array on the same GPU as the other plane");
  array.require_dtype("uint8");
  array.require_dimensions(2, "a plane (height, width)");
  array.require_contiguous(1);
  return {{static_cast<const std::uint8_t*>(array.data()), static_cast<int>(array.shape()[1]),
           static_cast<int>(array.shape()[0]), array.strides()[0]},
          cuda::Memory::device};
}

/// Memory for results on the device.
void* room(const Array& array, const std::string& dtype, const std::vector<std::ptrdiff_t>& shape) {
  if (!array.on_device()) array.refuse("C63-ARRAY-DEVICE", "an array on the planes' GPU");
  array.require_dtype(dtype);
  if (array.shape() != shape) array.refuse("C63-ARRAY-SHAPE", shape_text(shape));
  array.require_contiguous();
  array.require_writable();
  return array.data();
}

void estimate(py::handle current, py::handle reference, py::handle vectors, py::handle sads, int range, std::uintptr_t stream) {
  const Array current_array(current, "current", stream);
  const Array reference_array(reference, "reference", stream);
  const Array vector_array(vectors, "out, vectors", stream);
  const Array sad_array(sads, "out, sad", stream);
  const cuda::MotionPlane current_plane = plane_of(current_array);
  const cuda::MotionPlane reference_plane = plane_of(reference_array);
  const std::ptrdiff_t rows = current_plane.view.height / 8;
  const std::ptrdiff_t columns = current_plane.view.width / 8;
  const cuda::MotionOutput output{static_cast<MotionVector*>(room(vector_array, "int8", {rows, columns, 2})),
                                  static_cast<std::uint16_t*>(room(sad_array, "uint16", {rows, columns})),
                                  cuda::Memory::device};
  const py::gil_scoped_release released;
  const int device = cuda::device_of(current_plane.view.data);
  const auto entry =
      estimators().find({current_plane.view.width, current_plane.view.height, range, device, stream});
  const std::lock_guard lock(entry->mutex);
  entry->estimator.estimate_async(current_plane, reference_plane, output, handle_of(stream));
}

}  // namespace

DeviceVideo device_video(const FrameArrays& arrays, std::uintptr_t stream) {
  const VideoFormat format = arrays.format();
  const std::size_t bytes = static_cast<std::size_t>(arrays.count()) * frame_bytes(format.width, format.height);
  std::unique_ptr<cuda::DeviceFrames> frames;
  if (const std::uint8_t* const whole = arrays.whole_frames()) {
    frames = std::make_unique<cuda::DeviceFrames>(std::span(whole, bytes), format, handle_of(stream));
  } else {
    std::array<cuda::DevicePlane, 3> planes;
    for (std::size_t p = 0; p < 3; ++p) {
      const PlaneRows& plane = arrays.planes()[p];
      const std::ptrdiff_t width = p == 0 ? format.width : format.width / 2;
      planes[p] = {plane.data, plane.frame_stride, plane.rows > 1 ? plane.row_stride : width};
    }
    frames = std::make_unique<cuda::DeviceFrames>(planes, arrays.count(), format, handle_of(stream));
  }
  const int device = frames->device();
  return {std::move(frames), device};
}

#else

namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::device, "C63-NO-GPU", "the array is a GPU's, and no GPU can be used: " + gpu_obstacle());
}

void estimate(py::handle, py::handle, py::handle, py::handle, int, std::uintptr_t) { refuse(); }

}  // namespace

DeviceVideo device_video(const FrameArrays&, std::uintptr_t) { refuse(); }

#endif

void add_device_motion(py::module_& module) {
  using namespace py::literals;
  module.def("estimate_motion_on_device", estimate, "current"_a, "reference"_a, "vectors"_a, "sads"_a, "search_range"_a,
             "stream"_a);
}

}  // namespace c63::python
