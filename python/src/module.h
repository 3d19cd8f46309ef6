#pragma once

#include <pybind11/pybind11.h>

#include <limits>
#include <string>
#include <type_traits>

#include "c63/enum_names.h"

namespace c63::python {

// Each adds a part of the native module.
void add_arguments(pybind11::module_& module);
void add_decoding(pybind11::module_& module);
void add_encoding(pybind11::module_& module);
void add_errors(pybind11::module_& module);
void add_film_motion(pybind11::module_& module);
void add_filters(pybind11::module_& module);
void add_motion(pybind11::module_& module);
void add_quality(pybind11::module_& module);
void add_race(pybind11::module_& module);
void add_video_reader(pybind11::module_& module);

/// Returns a text that may hold a file's name. Bytes that are not UTF-8 arrive as os.fsdecode() gives them.
[[nodiscard]] pybind11::str text_of(const std::string& text);

/// Throws Error (usage, C63-SETTING): "NAME: wanted WANTED, got GIVEN".
[[noreturn]] void refuse(const char* name, const std::string& wanted, pybind11::handle given);

/// Returns an argument as a T: a value of an enum by its name, a text, a flag or a number. Accepts numpy's numbers.
/// Calls refuse() for others, for numbers that do not fit a T, and for True and False as numbers.
template <typename T>
T value_of(pybind11::handle given, const char* name) {
  constexpr bool is_text = std::is_same_v<T, std::string>;
  if constexpr (std::is_enum_v<T>) {
    std::string known;
    for (const auto& [value, text] : names_of<T>()) {
      if (pybind11::isinstance<pybind11::str>(given) && given.cast<std::string>() == text) return value;
      known += (known.empty() ? "" : ", ") + std::string(text);
    }
    refuse(name, "one of " + known, given);
  } else {
    pybind11::detail::make_caster<T> caster;
    const bool may_be =
        is_text ? pybind11::isinstance<pybind11::str>(given) : std::is_same_v<T, bool> || !PyBool_Check(given.ptr());
    if (may_be && caster.load(given, std::is_floating_point_v<T>)) return pybind11::detail::cast_op<T>(caster);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Limits = std::numeric_limits<T>;
      refuse(name, "a whole number from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()),
             given);
    }
    refuse(name, is_text ? "a text" : std::is_same_v<T, bool> ? "True or False" : "a number", given);
  }
}

}  // namespace c63::python
