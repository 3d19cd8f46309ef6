// The module c63._c63: those parts of the public headers that the package c63 uses. Types for users and checks of
// arguments are in Python.

#include <pybind11/pybind11.h>

#include "c63/version.h"
#include "module.h"

PYBIND11_MODULE(_c63, module) {
  using namespace c63::python;
  module.doc() = "The native part of Codec63. Use the package c63 instead";
  module.attr("VERSION") = c63::version();
  module.attr("REVISION") = c63::revision();
  add_arguments(module);
  add_errors(module);
  add_motion(module);
  add_video_reader(module);
  add_encoding(module);
  add_decoding(module);
  add_quality(module);
  add_film_motion(module);
  add_filters(module);
  add_race(module);
}
