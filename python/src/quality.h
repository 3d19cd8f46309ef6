#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Adds PSNR, SSIM and Bjøntegaard deltas to the module.
void add_quality(pybind11::module_& module);

}  // namespace c63::python
