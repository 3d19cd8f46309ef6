#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// encode(), EncodeSession, and what they hand out.
void add_encoding(pybind11::module_& module);

}  // namespace c63::python
