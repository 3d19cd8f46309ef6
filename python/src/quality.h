#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// PSNR, SSIM and Bjøntegaard's deltas.
void add_quality(pybind11::module_& module);

}  // namespace c63::python
