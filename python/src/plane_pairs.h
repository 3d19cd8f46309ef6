#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "array.h"
#include "c63/motion_search.h"

namespace c63::python {

/// The arrays for the results of a search, as Python passes them; None for results that are not requested.
struct __attribute__((visibility("hidden"))) ResultObjects {
  py::object vectors;
  py::object sads;
  py::object seconds;
  py::object quarters;
};

/// Arguments of estimate_motion(): planes, initial vectors and results. The arrays are used in place, and this object
/// keeps them alive. All are in host memory or all on one GPU. Planes are (height, width), or (n, height, width) for n
/// pairs. The shapes of results for n pairs also begin with n.
class PlanePairs {
 public:
  /// Throws Error (usage), which names the wrong array. `stream` is the CUDA stream for arrays on a GPU.
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
