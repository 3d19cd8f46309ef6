#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Adds encode(), EncodeSession and their result types to the module.
void add_encoding(pybind11::module_& module);

}  // namespace c63::python
