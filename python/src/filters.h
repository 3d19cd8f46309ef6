#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Adds those functions of c63/filters.h to the module that c63.filters uses, for arrays in host memory. The Python
/// code allocates the output arrays.
void add_filters(pybind11::module_& module);

}  // namespace c63::python
