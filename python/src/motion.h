#pragma once

#include <pybind11/pybind11.h>

#include "c63/motion.h"
#include "samples.h"

namespace c63::python {

/// The vectors of a plane as Python sees them.
struct PlaneMotion {
  explicit PlaneMotion(MotionField&& field)
      : rows(field.rows), columns(field.columns), vectors(std::move(field.vectors)), sads(std::move(field.sads)),
        inter(std::move(field.inter)) {}

  int rows;
  int columns;
  Samples vectors;  ///< int8 x and y of each block
  Samples sads;     ///< uint16; empty if there are none
  Samples inter;    ///< one byte each; empty: a vector predicts every block
};

/// Adds estimate_motion() and Samples to the module.
void add_motion(pybind11::module_& module);

}  // namespace c63::python
