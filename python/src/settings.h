#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "c63/encoder.h"
#include "c63/target.h"

namespace c63::python {

/// The encoder's settings that an object of the class c63.Settings tells, without the picture's size. Throws Error (usage,
/// C63-SETTING) for a name that stands for nothing and a number that is none, or that the field cannot hold.
[[nodiscard]] EncoderSettings settings_from(pybind11::handle object);

/// A whole number, or a list of them from 0 on. Throws Error (usage, C63-SETTING) for anything else, and for what an int cannot hold.
[[nodiscard]] int int_from(pybind11::handle given, const char* name);
[[nodiscard]] std::vector<int> ints_from(pybind11::handle given, const char* name);

/// Threads, lanes, SIMD level and limits alone.
[[nodiscard]] ExecutionSettings execution_from(pybind11::handle object);

/// What an encode is to come to, by passes over the whole video.
struct TargetRequest {
  Target target;
  std::optional<double> gop_cap;       ///< times what a bit rate gives, that a GOP may take
  std::optional<double> frames_per_s;  ///< nothing: the video's own
};
/// The target of an object of the class c63.Settings; nothing if none is set.
[[nodiscard]] std::optional<TargetRequest> target_from(pybind11::handle object);

/// The rows of c63/options.inc by Python's names, from which python/make_stub.py makes the class c63.Settings.
[[nodiscard]] pybind11::dict options();

}  // namespace c63::python
