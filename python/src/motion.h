#pragma once

#include <pybind11/pybind11.h>

#include <utility>
#include <vector>

#include "array.h"
#include "c63/motion.h"

namespace c63::python {

/// Returns a class or a function of the package's Python code.
inline py::object of_package(const char* module, const char* name) { return py::module_::import(module).attr(name); }

/// Returns the samples of a picture as c63.Frames; None if there are none.
inline py::object picture_of(std::vector<std::uint8_t>&& samples, int width, int height) {
  const auto bytes = static_cast<py::ssize_t>(samples.size());
  return of_package("c63._arrays", "picture")(array_or_none<std::uint8_t>(std::move(samples), {bytes}), width, height);
}

/// Returns c63.Motion for each plane that has vectors.
template <typename Fields>
py::tuple motion_of(Fields&& fields) {
  py::list planes;
  for (MotionField& field : fields) {
    if (field.vectors.empty()) continue;
    planes.append(of_package("c63._arrays", "Motion")(
        array_or_none<std::int8_t>(std::move(field.vectors), {field.rows, field.columns, 2}),
        array_or_none<std::uint16_t>(std::move(field.sads), {field.rows, field.columns}),
        array_or_none<bool>(std::move(field.inter), {field.rows, field.columns})));
  }
  return py::tuple(planes);
}

}  // namespace c63::python
