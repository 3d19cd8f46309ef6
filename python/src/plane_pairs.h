#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "array.h"
#include "c63/motion_search.h"

namespace c63::python {

/// Where the results of a search go, as Python hands it over: arrays, or None for what is not wanted.
struct __attribute__((visibility("hidden"))) ResultObjects {
  py::object vectors;
  py::object sads;
  py::object seconds;
  py::object quarters;
};

/// Planes, initial vectors and results of estimate_motion() in the memory of arrays, which it holds: either all of the host, or all
/// of a GPU. Planes are (height, width), or (n, height, width) for n pairs; results have the dimension n, too.
class PlanePairs {
 public:
  /// Throws Error (usage) that names the array. `stream` is for arrays of a GPU.
  PlanePairs(py::handle current, py::handle reference, py::handle around, const ResultObjects& results, bool on_device,
             std::uintptr_t stream = 0);

  [[nodiscard]] const std::vector<MotionPair>& pairs() const { return pairs_; }
  [[nodiscard]] const MotionResults& results() const { return results_; }
  [[nodiscard]] const MotionVector* around() const { return around_; }

 private:
  Array current_;
  Array reference_;
  std::vector<Array> others_;
  std::vector<MotionPair> pairs_;
  MotionResults results_;
  const MotionVector* around_ = nullptr;
};

}  // namespace c63::python
