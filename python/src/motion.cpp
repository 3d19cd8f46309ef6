#include "motion.h"

#include <optional>

#include "array.h"
#include "c63/error.h"

namespace c63::python {
namespace {

ConstPlaneView plane_of(const Array& array) {
  array.require_host();
  array.require_dtype("uint8");
  array.require_dimensions(2, "a plane (height, width)");
  array.require_contiguous(1);
  return {static_cast<const std::uint8_t*>(array.data()), static_cast<int>(array.shape()[1]),
          static_cast<int>(array.shape()[0]), array.strides()[0]};
}

PlaneMotion estimate(py::handle current, py::handle reference, int range, const std::string& method) {
  const Array current_array(current, "current");
  const Array reference_array(reference, "reference");
  const ConstPlaneView current_plane = plane_of(current_array);
  const ConstPlaneView reference_plane = plane_of(reference_array);
  const std::optional<SearchMethod> search = search_method_from(method);
  if (!search) {
    throw Error(ErrorKind::usage, "C63-SETTING",
                "method: wanted full, full-brute, full-eliminate or zero, got '" + method + "'");
  }
  const py::gil_scoped_release released;
  return PlaneMotion(estimate_motion(current_plane, reference_plane, range, *search));
}

}  // namespace

void add_motion(py::module_& module) {
  using namespace py::literals;
  py::class_<Samples>(module, "Samples", py::buffer_protocol()).def_buffer([](Samples& samples) {
    return py::buffer_info(static_cast<std::uint8_t*>(samples.data()), static_cast<py::ssize_t>(samples.bytes()));
  });
  py::class_<PlaneMotion>(module, "PlaneMotion")
      .def_readonly("rows", &PlaneMotion::rows)
      .def_readonly("columns", &PlaneMotion::columns)
      .def_readonly("vectors", &PlaneMotion::vectors)
      .def_readonly("sads", &PlaneMotion::sads)
      .def_readonly("inter", &PlaneMotion::inter);
  module.def("estimate_motion", estimate, "current"_a, "reference"_a, "search_range"_a, "method"_a);
}

}  // namespace c63::python
