#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <vector>

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

/// Returns a text that may hold a file's name. Bytes that are not UTF-8 arrive as os.fsdecode() gives them.
[[nodiscard]] pybind11::str text_of(const std::string& text);

/// Returns the values' names for a message: "auto, raw or y4m".
template <typename Enum>
std::string name_list(const std::vector<Enum>& values) {
  std::string names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    names += i == 0 ? "" : i + 1 == values.size() ? " or " : ", ";
    names += name(values[i]);
  }
  return names;
}

}  // namespace c63::python
