#pragma once

#include <pybind11/pybind11.h>

namespace c63::python {

// Each adds a part of the native module.
void add_arguments(pybind11::module_& module);
void add_decoding(pybind11::module_& module);
void add_encoding(pybind11::module_& module);
void add_errors(pybind11::module_& module);
void add_filters(pybind11::module_& module);
void add_motion(pybind11::module_& module);
void add_quality(pybind11::module_& module);
void add_race(pybind11::module_& module);
void add_video_reader(pybind11::module_& module);

}  // namespace c63::python
