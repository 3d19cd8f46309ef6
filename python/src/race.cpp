#include <array>
#include <cstdint>
#include <cstring>
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

/// Has a function in Python search a case. It returns vectors (rows, columns, 2), SADs (rows, columns), whether it
/// wrote past them, and whether it wrote into the planes.
race::SearchedCase search_case(const py::function& search, const RaceCase& c, const race::CaseLayout& layout) {
  const auto plane = [&](std::vector<std::uint8_t> bytes, int pitch) {
    return numpy_array<std::uint8_t>(std::move(bytes), {c.height, pitch});
  };
  const py::tuple found = search(c.name, plane(c.current, c.current_pitch), plane(c.reference, c.reference_pitch),
                                 c.width, c.range, layout.poison, layout.around);
  race::SearchedCase searched{SearchResults::poisoned(c.blocks(), 0), found[2].cast<bool>(), found[3].cast<bool>()};
  const auto take = [&](py::handle object, auto& values) {
    const Array array(object, "results");
    array.require_contiguous();
    if (array.size() * static_cast<std::size_t>(array.item_bytes()) != 2 * c.blocks())
      array.refuse("C63-ARRAY-SHAPE", "results of the case");
    std::memcpy(values.data(), array.data(), 2 * c.blocks());
  };
  take(found[0], searched.results.vectors);
  take(found[1], searched.results.sads);
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
  py::class_<Judge>(module, "RaceJudge")
      .def(py::init<bool>(), "inexact"_a)
      .def(
          "judge",
          [](Judge& judge, const py::function& search, std::uint32_t seed, int range, int searches_again) {
            constexpr std::array kCalls = {std::size_t{1}};
            const auto search_cases = [&](std::span<const RaceCase> cases, const race::CaseLayout& layout) {
              return std::vector{search_case(search, cases.front(), layout)};
            };
            judge.judge(search_cases, seed, range, kCalls, searches_again, [](const std::string&) {});
          },
          "search"_a, "seed"_a, "search_range"_a, "searches_again"_a)
      .def(
          "stopped",
          [](Judge& judge, const std::string& what, const std::string& id, const std::string& text) {
            judge.stopped(what, {id, text, 1});
          },
          "what"_a, "id"_a, "text"_a)
      .def("verdict", &verdict_of);
  module.def(
      "moving_texture",
      [](int width, int height, int index, std::uint32_t seed) {
        return numpy_array<std::uint8_t>(race::moving_texture(width, height, index, seed), {height, width});
      },
      "width"_a, "height"_a, "index"_a, "seed"_a);
}

}  // namespace c63::python
