#pragma once

#include <pybind11/pybind11.h>

#include "c63/motion.h"
#include "samples.h"

namespace c63::python {

/// The vectors of a plane, as Python gets them.
struct PlaneMotion {
  explicit PlaneMotion(MotionField&& field)
      : rows(field.rows), columns(field.columns), vectors(std::move(field.vectors)), sads(std::move(field.sads)),
        inter(std::move(field.inter)) {}

  int rows;
  int columns;
  Samples vectors;  ///< int8: x and y of each block
  Samples sads;     ///< uint16 for each block; empty: not known
  Samples inter;    ///< one byte for each block, 1: predicted by its vector; empty: all blocks are
};

/// Adds estimate_motion(), Samples and PlaneMotion to the module.
void add_motion(pybind11::module_& module);

}  // namespace c63::python
