#include "motion.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
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

/// Arguments of estimate_motion(): planes, initial vectors and results (vectors, SADs, second SADs, SADs of quarters; None for
/// those that are not requested). The arrays are used in place, and this object
/// keeps them alive. All are in host memory or all on one GPU. Planes are (height, width), or (n, height, width) for n
/// pairs. The shapes of results for n pairs also begin with n.
class PlanePairs {
 public:
  /// Throws Error (usage), which names the wrong array. `stream` is the CUDA stream for arrays on a GPU.
  PlanePairs(py::handle current, py::handle reference, py::handle around, const py::tuple& results, bool on_device,
             std::uintptr_t stream = 0);

  [[nodiscard]] const std::vector<MotionPair>& pairs() const { return pairs_; }
  [[nodiscard]] const MotionResults& results() const { return results_; }
  [[nodiscard]] const MotionVector* around() const { return around_; }

 private:
  Array current_;
  Array reference_;
  std::vector<Array> others_;
  std::vector<MotionPair> pairs_;
  MotionResults results_;
  const MotionVector* around_ = nullptr;
};

PlanePairs::PlanePairs(py::handle current, py::handle reference, py::handle around, const py::tuple& results,
                       bool on_device, std::uintptr_t stream)
    : current_(current, "current", stream), reference_(reference, "reference", stream) {
  require_planes(current_, on_device);
  require_planes(reference_, on_device);
  const bool several = current_.dimensions() == 3;
  const std::ptrdiff_t count = several ? current_.shape()[0] : 1;
  if (current_.dimensions() != reference_.dimensions() || (several && reference_.shape()[0] != count)) {
    reference_.refuse("C63-ARRAY-SHAPE", "as many planes as current, " + shape_text(current_.shape()));
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) pairs_.push_back({plane_at(current_, i), plane_at(reference_, i)});

  const auto side = [&](int from_the_end) {
    return current_.shape()[static_cast<std::size_t>(current_.dimensions() - from_the_end)];
  };
  std::vector<std::ptrdiff_t> blocks{side(2) / 8, side(1) / 8};
  if (several) blocks.insert(blocks.begin(), count);
  const auto memory_of = [&](py::handle object, const std::string& name, const std::string& dtype, std::ptrdiff_t each,
                             bool written) -> void* {
    if (object.is_none()) return nullptr;
    const Array& array = others_.emplace_back(object, name, stream);
    if (on_device && !array.on_device()) array.refuse("C63-ARRAY-DEVICE", "an array on the planes' GPU");
    if (!on_device) array.require_host();
    array.require_dtype(dtype);
    std::vector<std::ptrdiff_t> shape = blocks;
    if (each > 1) shape.push_back(each);
    if (array.shape() != shape) array.refuse("C63-ARRAY-SHAPE", shape_text(shape));
    array.require_contiguous();
    if (written) array.require_writable();
    return array.data();
  };
  others_.reserve(5);
  around_ = static_cast<const MotionVector*>(memory_of(around, "around", "int8", 2, false));
  results_.vectors = static_cast<MotionVector*>(memory_of(results[0], "out, vectors", "int8", 2, true));
  results_.sads = static_cast<std::uint16_t*>(memory_of(results[1], "out, sad", "uint16", 1, true));
  results_.seconds = static_cast<std::uint16_t*>(memory_of(results[2], "out, second", "uint16", 1, true));
  results_.quarters = static_cast<std::uint16_t*>(memory_of(results[3], "out, quarters", "uint16", 4, true));
}

/// How a search is made. On a GPU, the method is always the exact one.
struct Search {
  int range;
  int zero_bias;
  int second_distance;
};

void estimate_on_host(const PlanePairs& planes, const std::string& method, const Search& s) {
  const std::optional<SearchMethod> search = enum_from<SearchMethod>(method);
  if (!search) {
    throw Error(ErrorKind::usage, "C63-SETTING",
                "method: wanted " + name_list(values_of<SearchMethod>()) + ", got '" + method + "'");
  }
  const py::gil_scoped_release released;
  estimate_motion(planes.pairs(),
                  {.range = s.range, .method = *search, .zero_bias = s.zero_bias, .second_distance = s.second_distance},
                  planes.results(), planes.around());
}

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

void estimate_on_device(const PlanePairs& planes, const Search& s, std::uintptr_t stream) {
  if (planes.pairs().empty()) return;
  const py::gil_scoped_release released;
  const ConstPlaneView& plane = planes.pairs().front().current;
  const auto entry =
      estimators().find({plane.width, plane.height, s.range, s.zero_bias, s.second_distance, cuda::device_of(plane.data), stream});
  const std::lock_guard lock(entry->mutex);
  entry->estimator.estimate_async(planes.pairs(), planes.results(), planes.around(), reinterpret_cast<CUstream_st*>(stream));
}

#else

void estimate_on_device(const PlanePairs&, const Search&, std::uintptr_t) { refuse_device(); }

#endif

}  // namespace

void add_motion(py::module_& module) {
  using namespace py::literals;
  py::class_<Samples>(module, "Samples", py::buffer_protocol()).def_buffer([](Samples& samples) {
    return py::buffer_info(samples.memory.get(), samples.item_bytes, samples.format, std::ssize(samples.shape), samples.shape,
                           py::detail::c_strides(samples.shape, samples.item_bytes));
  });
  module.def(
      "estimate_motion",
      [](py::handle current, py::handle reference, int range, const std::string& method, int zero_bias, int second_distance,
         py::handle around, const py::tuple& results, bool on_device, std::uintptr_t stream) {
        const PlanePairs planes(current, reference, around, results, on_device, stream);
        const Search search{range, zero_bias, second_distance};
        on_device ? estimate_on_device(planes, search, stream) : estimate_on_host(planes, method, search);
      },
      "current"_a, "reference"_a, "search_range"_a, "method"_a, "zero_bias"_a, "second_distance"_a, "around"_a, "results"_a,
      "on_device"_a, "stream"_a);
}

}  // namespace c63::python
