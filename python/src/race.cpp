#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array.h"
#include "c63/error.h"
#include "module.h"
#include "race/race_cases.h"
#include "race/race_judge.h"

namespace c63::python {
namespace {

using race::SearchResults;
using race::Judge;
using race::RaceCase;

py::bytes bytes_of(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the results of a search as a Field. `results` has the vectors (blocks, 2) and the SADs (blocks), both as
/// bytes.
SearchResults results_of(const RaceCase& c, const py::tuple& results) {
  SearchResults found = SearchResults::poisoned(c.blocks(), 0);
  const auto vectors = results[0].cast<std::string>();
  const auto sads = results[1].cast<std::string>();
  if (results.size() != 2 || vectors.size() != 2 * c.blocks() || sads.size() != 2 * c.blocks()) {
    throw Error(ErrorKind::internal, "C63-INTERNAL", "results of another size than the case's");
  }
  std::copy(vectors.begin(), vectors.end(), reinterpret_cast<char*>(found.vectors.data()));
  std::copy(sads.begin(), sads.end(), reinterpret_cast<char*>(found.sads.data()));
  return found;
}

py::dict verdict_of(const Judge& judge) {
  using namespace py::literals;
  const race::Verdict verdict = judge.verdict();
  py::list suspicions;
  for (const MotionSuspicion& s : verdict.suspicions) suspicions.append(py::make_tuple(s.id, s.text));
  return py::dict("is_right"_a = verdict.is_right, "text"_a = to_string(verdict), "first"_a = verdict.first,
                  "suspicions"_a = suspicions, "cases"_a = verdict.cases, "wrong_cases"_a = verdict.wrong_cases);
}

}  // namespace

void add_race(py::module_& module) {
  using namespace py::literals;
  py::class_<RaceCase, std::shared_ptr<RaceCase>>(module, "RaceCase")
      .def_readonly("name", &RaceCase::name)
      .def_readonly("search_range", &RaceCase::range)
      .def_readonly("width", &RaceCase::width)
      .def_readonly("height", &RaceCase::height)
      .def_readonly("current_pitch", &RaceCase::current_pitch)
      .def_readonly("reference_pitch", &RaceCase::reference_pitch)
      .def_property_readonly("current", [](const RaceCase& c) { return bytes_of(c.current); })
      .def_property_readonly("reference", [](const RaceCase& c) { return bytes_of(c.reference); })
      .def("copy", [](const RaceCase& c) { return std::make_shared<RaceCase>(c); })
      .def("change_padding", &RaceCase::change_padding, "seed"_a);
  py::class_<Judge>(module, "RaceJudge")
      .def(py::init<bool>(), "inexact"_a)
      .def("add",
           [](Judge& judge, const RaceCase& c, const py::tuple& first, const py::tuple& again, const py::tuple& other) {
             judge.add(c, {results_of(c, first), results_of(c, again), results_of(c, other)});
           },
           "case"_a, "first"_a, "again"_a, "other_padding"_a)
      .def("stopped",
           [](Judge& judge, const std::string& what, const std::string& id, const std::string& text) {
             judge.stopped(what, {id, text, 1});
           },
           "what"_a, "id"_a, "text"_a)
      .def("broke",
           [](Judge& judge, const RaceCase& c, const std::string& what, const std::string& id, const std::string& text) {
             judge.broke(c, what, {id, text, 1});
           },
           "case"_a, "what"_a, "id"_a, "text"_a)
      .def("has_enough", &Judge::has_enough)
      .def("verdict", &verdict_of);
  module.attr("RACE_POISONS") = py::make_tuple(race::kPoison, race::kOtherPoison);
  module.def(
      "race_cases",
      [](std::uint32_t seed, int range) {
        py::list cases;
        for (RaceCase& c : race::race_cases(seed, range)) cases.append(std::make_shared<RaceCase>(std::move(c)));
        return cases;
      },
      "seed"_a, "search_range"_a);
  module.def(
      "moving_texture",
      [](int width, int height, int index, std::uint32_t seed) { return bytes_of(race::moving_texture(width, height, index, seed)); },
      "width"_a, "height"_a, "index"_a, "seed"_a);
}

}  // namespace c63::python
