#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Adds DecodeStream (decoded frames one after another) and SeekableStream (any frame) to the module.
void add_decoding(pybind11::module_& module);

}  // namespace c63::python
