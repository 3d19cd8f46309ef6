#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Makes c63::Error arrive in Python as c63.Error, or as c63.UsageError for kind `usage`.
void add_errors(pybind11::module_& module);

}  // namespace c63::python
