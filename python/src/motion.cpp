#include "motion.h"

#include <optional>
#include <string>
#include <utility>

#include "c63/error.h"
#include "c63/motion_search.h"
#include "errors.h"
#include "module.h"
#include "plane_pairs.h"

namespace c63::python {
namespace {

void estimate(py::handle current, py::handle reference, int range, const std::string& method, int zero_bias,
              int second_distance, py::handle around, const ResultObjects& results) {
  const PlanePairs planes(current, reference, around, results, false);
  const std::optional<SearchMethod> search = search_method_from(method);
  if (!search) {
    throw Error(ErrorKind::usage, "C63-SETTING",
                "method: wanted " + name_list(all_search_methods()) + ", got '" + method + "'");
  }
  const py::gil_scoped_release released;
  estimate_motion(planes.pairs(),
                  {.range = range, .method = *search, .zero_bias = zero_bias, .second_distance = second_distance},
                  planes.results(), planes.around());
}

}  // namespace

void add_motion(py::module_& module) {
  using namespace py::literals;
  py::class_<Samples>(module, "Samples", py::buffer_protocol()).def_buffer([](Samples& samples) {
    return py::buffer_info(samples.memory.get(), samples.item_bytes, samples.format, std::ssize(samples.shape), samples.shape,
                           py::detail::c_strides(samples.shape, samples.item_bytes));
  });
  module.def(
      "estimate_motion",
      [](py::handle current, py::handle reference, int range, const std::string& method, int zero_bias, int second_distance,
         py::handle around, py::object vectors, py::object sads, py::object seconds, py::object quarters) {
        estimate(current, reference, range, method, zero_bias, second_distance, around,
                 {std::move(vectors), std::move(sads), std::move(seconds), std::move(quarters)});
      },
      "current"_a, "reference"_a, "search_range"_a, "method"_a, "zero_bias"_a, "second_distance"_a, "around"_a, "vectors"_a,
      "sads"_a, "seconds"_a, "quarters"_a);
}

}  // namespace c63::python
