#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "c63/target.h"

namespace c63::python {

/// Returns the encoder settings in an object of class c63.Settings, without the picture's size. Throws Error (usage,
/// C63-SETTING) for an unknown name, a value that is not a number, or one that does not fit the field.
[[nodiscard]] EncoderSettings settings_from(pybind11::handle object);

/// Returns the GPUs that an object of class c63.Settings names. Throws Error (usage, C63-SETTING).
[[nodiscard]] std::vector<int> devices_from(pybind11::handle settings);

/// A target size or quality of an encode, which needs several passes.
struct TargetRequest {
  Target target;
  std::optional<double> frames_per_s;  ///< empty: the video's own rate
};
/// Returns the target in an object of class c63.Settings, or nothing if none is set. Throws Error (usage, C63-SETTING).
[[nodiscard]] std::optional<TargetRequest> target_from(pybind11::handle object);

/// Checks the types of all fields of an object of class c63.Settings. Returns the GPUs that it names. Throws Error (usage,
/// C63-SETTING).
[[nodiscard]] pybind11::tuple check_settings(pybind11::handle object);

/// Returns the rows of c63/options.inc with Python's names. python/make_options.py makes the fields of the class
/// c63.Settings from them.
[[nodiscard]] pybind11::dict options();

}  // namespace c63::python
