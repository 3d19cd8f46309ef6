#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Adds the functions of c63/filters.h to the module, for arrays in host memory. The Python code allocates the output
/// arrays.
void add_filters(pybind11::module_& module);

}  // namespace c63::python
