#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "c63/encoder.h"

namespace c63::python {

/// The encoder's settings that an object of the class c63.Settings tells, without the picture's size. Throws Error (usage,
/// C63-SETTING) for a name that stands for nothing and a number that is none, or that the field cannot hold.
[[nodiscard]] EncoderSettings settings_from(pybind11::handle object);

/// A whole number, or a list of them from 0 on. Throws Error (usage, C63-SETTING) for anything else, and for what an int cannot hold.
[[nodiscard]] int int_from(pybind11::handle given, const char* name);
[[nodiscard]] std::vector<int> ints_from(pybind11::handle given, const char* name);

/// Threads, lanes, SIMD level and limits alone.
[[nodiscard]] ExecutionSettings execution_from(pybind11::handle object);

}  // namespace c63::python
