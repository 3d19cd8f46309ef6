#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "c63/encoder.h"

namespace c63::python {

/// Statistics of a frame, as a row of a structured numpy array.
[[nodiscard]] std::string row_of(const EncodedFrame& frame);

/// Returns the row's fields for numpy.dtype(…, align=True): (name, type) or (name, type, shape).
[[nodiscard]] pybind11::list row_fields();

/// Returns a run's summary by names.
[[nodiscard]] pybind11::dict dict_of(const EncodeSummary& summary);

}  // namespace c63::python
