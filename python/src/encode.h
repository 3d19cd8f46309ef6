#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Adds what encodes to the module: encode_arrays(), encode_video(), VideoEncoder and PushEncoder, with the class
/// CodedFrame, the fields of statistics, the table of options, and gpu_obstacle().
void add_encoding(pybind11::module_& module);

}  // namespace c63::python
