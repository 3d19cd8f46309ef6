#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "c63/encoder.h"
#include "c63/target.h"

namespace c63::python {

/// Returns the encoder settings of an object of the class c63.Settings, without the picture's size. Throws Error
/// (usage, C63-SETTING) for an unknown name, and for a value that is not a number or does not fit the field.
[[nodiscard]] EncoderSettings settings_from(pybind11::handle object);

/// Returns a whole number, or a list of them, from 0 on. Throws Error (usage, C63-SETTING) for anything else, and for
/// values that do not fit an int.
[[nodiscard]] int int_from(pybind11::handle given, const char* name);
[[nodiscard]] std::vector<int> ints_from(pybind11::handle given, const char* name);

/// Only threads, lanes, SIMD level and limits.
[[nodiscard]] ExecutionSettings execution_from(pybind11::handle object);

/// The target of an encode, which passes over the whole video meet.
struct TargetRequest {
  Target target;
  std::optional<double> gop_cap;       ///< how many times its share of the bit rate a GOP may take
  std::optional<double> frames_per_s;  ///< empty: the video's own
};
/// Returns the target of an object of the class c63.Settings, or nothing if none is set.
[[nodiscard]] std::optional<TargetRequest> target_from(pybind11::handle object);

/// The library's names for settings that are one of several, and its defaults: for tests of the class c63.Settings.
[[nodiscard]] pybind11::dict choices();
[[nodiscard]] pybind11::dict defaults();

}  // namespace c63::python
