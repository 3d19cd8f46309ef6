#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

/// Adds the cases and the judge of races (tools/race), for c63.race().
void add_race(pybind11::module_& module);

}  // namespace c63::python
