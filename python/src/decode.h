#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Adds the classes DecodeStream (frames in order) and SeekableStream (any frame) to the module.
void add_decoding(pybind11::module_& module);

}  // namespace c63::python
