#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
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

/// Returns what a search in Python has left: bytes of vectors (blocks, 2), bytes of SADs (blocks), whether it wrote past them, whether
/// it wrote into the planes.
race::SearchedCase searched_of(const RaceCase& c, const py::tuple& found) {
  race::SearchedCase searched{SearchResults::poisoned(c.blocks(), 0), found[2].cast<bool>(), found[3].cast<bool>()};
  const auto vectors = found[0].cast<std::string>();
  const auto sads = found[1].cast<std::string>();
  if (vectors.size() != 2 * c.blocks() || sads.size() != 2 * c.blocks()) {
    throw Error(ErrorKind::internal, "C63-INTERNAL", "results of another size than the case's");
  }
  std::ranges::copy(vectors, reinterpret_cast<char*>(searched.results.vectors.data()));
  std::ranges::copy(sads, reinterpret_cast<char*>(searched.results.sads.data()));
  return searched;
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
  py::class_<RaceCase>(module, "RaceCase")
      .def_readonly("name", &RaceCase::name)
      .def_readonly("search_range", &RaceCase::range)
      .def_readonly("width", &RaceCase::width)
      .def_readonly("height", &RaceCase::height)
      .def_readonly("current_pitch", &RaceCase::current_pitch)
      .def_readonly("reference_pitch", &RaceCase::reference_pitch)
      .def_property_readonly("current", [](const RaceCase& c) { return bytes_of(c.current); })
      .def_property_readonly("reference", [](const RaceCase& c) { return bytes_of(c.reference); });
  py::class_<Judge>(module, "RaceJudge")
      .def(py::init<bool>(), "inexact"_a)
      .def("judge",
           [](Judge& judge, const py::function& search, std::uint32_t seed, int range, int searches_again) {
             constexpr std::array kCalls = {std::size_t{1}};
             const auto search_cases = [&](std::span<const RaceCase> cases, const race::CaseLayout& layout) {
               return std::vector{searched_of(cases.front(), search(cases.front(), layout.poison, layout.around))};
             };
             judge.judge(search_cases, seed, range, kCalls, searches_again, [](const std::string&) {});
           },
           "search"_a, "seed"_a, "search_range"_a, "searches_again"_a)
      .def("stopped",
           [](Judge& judge, const std::string& what, const std::string& id, const std::string& text) {
             judge.stopped(what, {id, text, 1});
           },
           "what"_a, "id"_a, "text"_a)
      .def("verdict", &verdict_of);
  module.def(
      "moving_texture",
      [](int width, int height, int index, std::uint32_t seed) { return bytes_of(race::moving_texture(width, height, index, seed)); },
      "width"_a, "height"_a, "index"_a, "seed"_a);
}

}  // namespace c63::python
