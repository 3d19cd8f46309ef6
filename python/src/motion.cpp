#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>

#include "array.h"
#include "backends.h"
#include "c63/error.h"
#include "c63/motion_search.h"
#include "module.h"
#if defined(C63_HAVE_CUDA)
#include "c63/cuda/device_frames.h"
#include "c63/cuda/motion_estimator.h"
#endif

namespace c63::python {
namespace {

void require_planes(const Array& array, bool on_device) {
  if (on_device && !array.on_device()) array.refuse("C63-ARRAY-DEVICE", "an array on the same GPU as the other plane");
  if (!on_device) array.require_host();
  array.require_dtype("uint8");
  if (array.dimensions() != 3) array.require_dimensions(2, "a plane (height, width), or planes (n, height, width)");
  array.require_contiguous(array.dimensions() - 1);
}

ConstPlaneView plane_at(const Array& planes, std::ptrdiff_t index) {
  const auto first = static_cast<std::size_t>(planes.dimensions() - 2);
  const std::ptrdiff_t offset = first == 0 ? 0 : index * planes.strides()[0];
  return {static_cast<const std::uint8_t*>(planes.data()) + offset, static_cast<int>(planes.shape()[first + 1]),
          static_cast<int>(planes.shape()[first]), planes.strides()[first]};
}

/// The planes and results of estimate_motion(). The arrays are used in place, and this object keeps them alive. All are
/// in host memory or all on one GPU. Planes are (height, width), or (n, height, width) for n pairs. The shapes of
/// results for n pairs also begin with n.
struct PlanePairs {
  /// Throws Error (usage), which names the wrong array. `stream` is the CUDA stream for arrays on a GPU.
  PlanePairs(py::handle current_planes, py::handle reference_planes, bool is_on_device, std::uintptr_t of_stream)
      : current(current_planes, "current", of_stream),
        reference(reference_planes, "reference", of_stream),
        on_device(is_on_device),
        stream(of_stream) {
    require_planes(current, on_device);
    require_planes(reference, on_device);
    const bool several = current.dimensions() == 3;
    const std::ptrdiff_t count = several ? current.shape()[0] : 1;
    if (current.shape() != reference.shape()) {
      const bool is_count = current.dimensions() != reference.dimensions() || (several && reference.shape()[0] != count);
      reference.refuse(is_count ? "C63-ARRAY-SHAPE" : "C63-PLANE-SIZE", "planes as those of current, " + shape_text(current.shape()));
    }
    for (std::ptrdiff_t i = 0; i < count; ++i) pairs.push_back({plane_at(current, i), plane_at(reference, i)});
    blocks = current.shape();
    for (std::size_t side = blocks.size() - 2; side < blocks.size(); ++side) blocks[side] /= 8;
  }

  /// Returns the shape of an array with `each` values for a block.
  [[nodiscard]] std::vector<std::ptrdiff_t> shape_of(std::ptrdiff_t each) const {
    std::vector<std::ptrdiff_t> shape = blocks;
    if (each > 1) shape.push_back(each);
    return shape;
  }

  /// Returns the memory of an array with `each` values for a block. It is kept until this object is destroyed.
  void* memory_of(py::handle object, const std::string& name, const std::string& dtype, std::ptrdiff_t each,
                  bool written) {
    const Array& array = others.emplace_back(object, name, stream);
    if (on_device && !array.on_device()) array.refuse("C63-ARRAY-DEVICE", "an array on the planes' GPU");
    if (!on_device) array.require_host();
    array.require_dtype(dtype);
    if (array.shape() != shape_of(each)) array.refuse("C63-ARRAY-SHAPE", shape_text(shape_of(each)));
    array.require_contiguous();
    if (written) array.require_writable();
    return array.data();
  }

  Array current;
  Array reference;
  bool on_device;
  std::uintptr_t stream;
  std::vector<Array> others;
  std::vector<std::ptrdiff_t> blocks;  ///< the shape of an array with a value for each block
  std::vector<MotionPair> pairs;
  MotionResults results;
  const MotionVector* around = nullptr;
};

#if defined(C63_HAVE_CUDA)

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

void estimate_on_device(const PlanePairs& planes, const MotionSettings& s) {
  if (planes.pairs.empty()) return;
  const ConstPlaneView& plane = planes.pairs.front().current;
  const auto entry = estimators().find(
      {plane.width, plane.height, s.range, s.zero_bias, s.second_distance, cuda::device_of(plane.data), planes.stream});
  const std::lock_guard lock(entry->mutex);
  entry->estimator.estimate_async(planes.pairs, planes.results, planes.around,
                                  reinterpret_cast<CUstream_st*>(planes.stream));
}

#else

void estimate_on_device(const PlanePairs&, const MotionSettings&) { refuse_device(); }

#endif

/// Returns the fields of c63.Motion. `out` has the arrays of the results, or is None. Then make(shape, dtype) makes
/// them.
py::tuple estimate(py::handle current, py::handle reference, py::handle range, py::handle method, py::handle zero_bias,
                   py::handle second_distance, py::handle around, py::handle second, py::handle quarters,
                   const py::object& out, const py::object& make, bool on_device, std::uintptr_t stream) {
  const MotionSettings settings{.range = value_of<int>(range, "search_range"),
                                .method = value_of<SearchMethod>(method, "method"),
                                .zero_bias = value_of<int>(zero_bias, "zero_bias"),
                                .second_distance = value_of<int>(second_distance, "second_distance")};
  const bool has_second = value_of<bool>(second, "second");
  const bool has_quarters = value_of<bool>(quarters, "quarters");
  const std::size_t count = 2 + (has_second ? 1 : 0) + (has_quarters ? 1 : 0);
  if (!out.is_none() && (!(py::isinstance<py::tuple>(out) || py::isinstance<py::list>(out)) || py::len(out) != count)) {
    refuse("out", std::to_string(count) + " arrays: vectors, sad, then second and quarters if requested", out);
  }
  PlanePairs planes(current, reference, on_device, stream);
  if (!around.is_none())
    planes.around = static_cast<const MotionVector*>(planes.memory_of(around, "around", "int8", 2, false));
  std::size_t next = 0;
  const auto take = [&](auto*& memory, const char* name, const char* dtype, std::ptrdiff_t each,
                        bool is_wanted) -> py::object {
    if (!is_wanted) return py::none();
    const py::object array =
        out.is_none() ? make(py::tuple(py::cast(planes.shape_of(each))), dtype) : py::object(out[py::int_(next++)]);
    memory = static_cast<std::decay_t<decltype(memory)>>(
        planes.memory_of(array, std::string("out, ") + name, dtype, each, true));
    return array;
  };
  const py::object vectors = take(planes.results.vectors, "vectors", "int8", 2, true);
  const py::object sads = take(planes.results.sads, "sad", "uint16", 1, true);
  const py::object seconds = take(planes.results.seconds, "second", "uint16", 1, has_second);
  const py::object of_quarters = take(planes.results.quarters, "quarters", "uint16", 4, has_quarters);
  {
    const py::gil_scoped_release released;
    on_device ? estimate_on_device(planes, settings)
              : estimate_motion(planes.pairs, settings, planes.results, planes.around);
  }
  return py::make_tuple(vectors, sads, py::none(), seconds, of_quarters);
}

}  // namespace

void add_motion(py::module_& module) {
  using namespace py::literals;
  py::class_<Samples>(module, "Samples", py::buffer_protocol()).def_buffer([](Samples& samples) {
    return py::buffer_info(samples.memory.get(), samples.item_bytes, samples.format, std::ssize(samples.shape), samples.shape,
                           py::detail::c_strides(samples.shape, samples.item_bytes));
  });
  module.def("estimate_motion", estimate);
}

}  // namespace c63::python
