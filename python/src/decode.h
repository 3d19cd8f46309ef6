#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// DecodeStream: decoded frames one after another; SeekableStream: any of them.
void add_decoding(pybind11::module_& module);

}  // namespace c63::python
