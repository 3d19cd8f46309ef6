#include "device_arrays.h"

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "array.h"
#include "backends.h"
#include "c63/error.h"
#include "module.h"
#include "plane_pairs.h"
#if defined(C63_HAVE_CUDA)
#include "c63/cuda/device_frames.h"
#include "c63/cuda/motion_estimator.h"
#endif

namespace c63::python {

#if defined(C63_HAVE_CUDA)

namespace {

CUstream_st* handle_of(std::uintptr_t stream) { return reinterpret_cast<CUstream_st*>(stream); }

/// Motion estimators for GPUs. Each belongs to one key: the planes' size, the GPU, the CUDA stream and the settings of
/// the search. Later calls with the same key reuse its buffers.
class Estimators {
 public:
  struct Key {
    int width, height, range, zero_bias, second_distance, device;
    std::uintptr_t stream;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Entry {
    Key key;
    std::mutex mutex;  ///< lets one thread at a time use the estimator
    cuda::MotionEstimator estimator;
    explicit Entry(const Key& k)
        : key(k),
          estimator({.width = k.width, .height = k.height, .range = k.range, .device = k.device, .zero_bias = k.zero_bias,
                     .second_distance = k.second_distance}) {}
  };

  /// Returns the estimator for `key`. If there are more than kMost estimators, removes the one that was not used for
  /// the longest time.
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
  std::list<std::shared_ptr<Entry>> entries_;  ///< the last used first
};

/// Never destroyed, because the driver may be gone when the process ends.
Estimators& estimators() {
  static auto* const all = new Estimators;
  return *all;
}

void estimate(py::handle current, py::handle reference, int range, int zero_bias, int second_distance, py::handle around,
              const ResultObjects& results, std::uintptr_t stream) {
  const PlanePairs planes(current, reference, around, results, true, stream);
  if (planes.pairs().empty()) return;
  const py::gil_scoped_release released;
  const ConstPlaneView& plane = planes.pairs().front().current;
  const auto entry =
      estimators().find({plane.width, plane.height, range, zero_bias, second_distance, cuda::device_of(plane.data), stream});
  const std::lock_guard lock(entry->mutex);
  entry->estimator.estimate_async(planes.pairs(), planes.results(), planes.around(), handle_of(stream));
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
  throw Error(ErrorKind::device, "C63-NO-GPU", "the array is in GPU memory, but no GPU can be used: " + gpu_obstacle());
}

void estimate(py::handle, py::handle, int, int, int, py::handle, const ResultObjects&, std::uintptr_t) { refuse(); }

}  // namespace

DeviceVideo device_video(const FrameArrays&, std::uintptr_t) { refuse(); }

#endif

void add_device_motion(py::module_& module) {
  using namespace py::literals;
  module.def(
      "estimate_motion_on_device",
      [](py::handle current, py::handle reference, int range, int zero_bias, int second_distance, py::handle around,
         py::object vectors, py::object sads, py::object seconds, py::object quarters, std::uintptr_t stream) {
        estimate(current, reference, range, zero_bias, second_distance, around,
                 {std::move(vectors), std::move(sads), std::move(seconds), std::move(quarters)}, stream);
      },
      "current"_a, "reference"_a, "search_range"_a, "zero_bias"_a, "second_distance"_a, "around"_a, "vectors"_a, "sads"_a,
      "seconds"_a, "quarters"_a, "stream"_a);
}

}  // namespace c63::python
