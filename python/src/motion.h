#pragma once

#include <pybind11/pybind11.h>

#include <utility>
#include <vector>

#include "array.h"
#include "c63/motion.h"

namespace c63::python {

/// Returns the samples of a picture as one row; None if there are none.
inline py::object picture_row(std::vector<std::uint8_t>&& samples) {
  const auto bytes = static_cast<py::ssize_t>(samples.size());
  return array_or_none<std::uint8_t>(std::move(samples), {bytes});
}

/// Returns the arrays of c63.Motion for each plane that has vectors.
template <typename Fields>
py::list motion_of(Fields&& fields) {
  py::list planes;
  for (MotionField& field : fields) {
    if (field.vectors.empty()) continue;
    planes.append(py::make_tuple(array_or_none<std::int8_t>(std::move(field.vectors), {field.rows, field.columns, 2}),
                                 array_or_none<std::uint16_t>(std::move(field.sads), {field.rows, field.columns}),
                                 array_or_none<bool>(std::move(field.inter), {field.rows, field.columns})));
  }
  return planes;
}

}  // namespace c63::python
