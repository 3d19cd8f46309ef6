#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "c63/encoder.h"

namespace c63::python {

/// Returns the statistics of a frame, as the bytes of a row of a structured numpy array.
[[nodiscard]] std::string row_of(const EncodedFrame& frame);

/// Returns the fields of a row for numpy.dtype(…, align=True), as (name, type) or (name, type, shape).
[[nodiscard]] pybind11::list row_fields();

/// Returns the summary of a run as a dict.
[[nodiscard]] pybind11::dict dict_of(const EncodeSummary& summary);

}  // namespace c63::python
