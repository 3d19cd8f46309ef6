#include "plane_pairs.h"

#include <string>

#include "c63/error.h"

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

}  // namespace

PlanePairs::PlanePairs(py::handle current, py::handle reference, py::handle around, const ResultObjects& results,
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
  results_.vectors = static_cast<MotionVector*>(memory_of(results.vectors, "out, vectors", "int8", 2, true));
  results_.sads = static_cast<std::uint16_t*>(memory_of(results.sads, "out, sad", "uint16", 1, true));
  results_.seconds = static_cast<std::uint16_t*>(memory_of(results.seconds, "out, second", "uint16", 1, true));
  results_.quarters = static_cast<std::uint16_t*>(memory_of(results.quarters, "out, quarters", "uint16", 4, true));
}

}  // namespace c63::python
