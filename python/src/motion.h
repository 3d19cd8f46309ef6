#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c63/motion.h"

namespace c63::python {

namespace py = pybind11;

/// Memory that the library owns and that Python sees through the buffer protocol.
struct Samples {
  std::shared_ptr<void> memory;
  std::string format;
  py::ssize_t item_bytes;
  std::vector<py::ssize_t> shape;
};

/// Returns a numpy array of Items that keeps the values alive; None if there are none.
template <typename Item, typename T>
py::object numpy_array(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  if (values.empty()) return py::none();
  const auto kept = std::make_shared<std::vector<T>>(std::move(values));
  return py::module_::import("numpy").attr("asarray")(
      Samples{std::shared_ptr<void>(kept, kept->data()), py::format_descriptor<Item>::format(), sizeof(Item), std::move(shape)});
}

/// Returns the samples of a picture as one row; None if there are none.
inline py::object picture_row(std::vector<std::uint8_t>&& samples) {
  const auto bytes = static_cast<py::ssize_t>(samples.size());
  return numpy_array<std::uint8_t>(std::move(samples), {bytes});
}

/// Returns the arrays of c63.Motion for each plane that has vectors.
template <typename Fields>
py::list motion_of(Fields&& fields) {
  py::list planes;
  for (MotionField& field : fields) {
    if (field.vectors.empty()) continue;
    planes.append(py::make_tuple(numpy_array<std::int8_t>(std::move(field.vectors), {field.rows, field.columns, 2}),
                                 numpy_array<std::uint16_t>(std::move(field.sads), {field.rows, field.columns}),
                                 numpy_array<bool>(std::move(field.inter), {field.rows, field.columns})));
  }
  return planes;
}

}  // namespace c63::python
