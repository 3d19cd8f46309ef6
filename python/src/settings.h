#pragma once

#include <pybind11/pybind11.h>

#include "c63/encoder.h"

namespace c63::python {

/// The encoder's settings that an object of the class c63.Settings tells, without the picture's size. Throws Error (usage,
/// C63-SETTING) for a name that stands for nothing.
[[nodiscard]] EncoderSettings settings_from(pybind11::handle object);

/// Threads, lanes, SIMD level and limits alone.
[[nodiscard]] ExecutionSettings execution_from(pybind11::handle object);

}  // namespace c63::python
