#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// The functions of c63/filters.h on arrays of the host; their outputs are arrays that Python has made.
void add_filters(pybind11::module_& module);

}  // namespace c63::python
