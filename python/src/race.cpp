#include <pybind11/numpy.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array.h"
#include "c63/error.h"
#include "module.h"
#include "race/race_cases.h"
#include "race/race_judge.h"
#include "race/search_process.h"

namespace c63::python {
namespace {

using race::SearchResults;
using race::Judge;
using race::RaceCase;

/// Starts a process in which a function in Python searches. Its arrays lie in the memory that the processes share.
std::unique_ptr<race::SearchProcess> start_process(const py::function& search, std::size_t most_samples) {
  const auto call = [search](const c63_motion_job& job) {
    const py::gil_scoped_acquire gil;
    const auto view = [](const char* type, const void* data, std::vector<py::ssize_t> shape, std::vector<py::ssize_t> strides) {
      return py::array(py::dtype(type), std::move(shape), std::move(strides), data, py::none());  // a base means no copy
    };
    const py::ssize_t rows = job.height / 8;
    const py::ssize_t columns = job.width / 8;
    try {
      search(view("uint8", job.current, {job.height, job.width}, {static_cast<py::ssize_t>(job.current_pitch), 1}),
             view("uint8", job.reference, {job.height, job.width}, {static_cast<py::ssize_t>(job.reference_pitch), 1}), job.range,
             view("int8", job.vectors, {rows, columns, 2}, {2 * columns, 2, 1}), view("uint16", job.sads, {rows, columns}, {2 * columns, 2}));
    } catch (const py::error_already_set& error) {
      throw race::SearchFailed(py::str(error.value()));
    }
  };
  race::SearchProcessOptions options;
  options.most_samples = most_samples;
  options.starts = [] { PyOS_AfterFork_Child(); };
  options.while_waiting = [] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
  PyOS_BeforeFork();
  try {
    auto process = std::make_unique<race::SearchProcess>([call] { return call; }, options);
    PyOS_AfterFork_Parent();
    return process;
  } catch (...) {
    PyOS_AfterFork_Parent();
    throw;
  }
}

/// Has a case searched, by a process, or by a function in Python that returns vectors (rows, columns, 2), SADs (rows, columns),
/// whether it wrote past them, whether it wrote into the planes, and the seconds that it took.
race::SearchedCase search_case(const py::object& search, const RaceCase& c, const race::CaseLayout& layout) {
  if (py::isinstance<race::SearchProcess>(search)) return search.cast<race::SearchProcess&>().search(c, layout);
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
  searched.seconds = found[4].cast<double>();
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
  static const py::handle search_ended = py::exception<race::SearchEnded>(module, "SearchEnded").release();  // text, id of the cause, advice
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const race::SearchFailed& failed) {
      PyErr_SetObject(search_ended.ptr(), py::make_tuple(failed.what(), "raises", "an error of the function").ptr());
    } catch (const race::SearchEnded& end) {
      const MotionSuspicion cause = race::cause_of(end);
      PyErr_SetObject(search_ended.ptr(), py::make_tuple(end.place.empty() ? "ends its process" : end.place, cause.id, cause.text).ptr());
    }
  });
  py::class_<race::SearchProcess>(module, "SearchProcess").def(py::init(&start_process), "search"_a, "most_samples"_a);
  py::class_<Judge>(module, "RaceJudge")
      .def(py::init<bool>(), "inexact"_a)
      .def(
          "judge",
          [](Judge& judge, const py::object& search, std::uint32_t seed, int range, int searches_again) {
            constexpr std::array kCalls = {std::size_t{1}};
            const auto search_cases = [&](std::span<const RaceCase> cases, const race::CaseLayout& layout) {
              return std::vector{search_case(search, cases.front(), layout)};
            };
            judge.judge(search_cases, seed, range, kCalls, searches_again, [](const std::string&) {});
          },
          "search"_a, "seed"_a, "search_range"_a, "searches_again"_a)
      .def(
          "time",
          [](Judge& judge, const py::object& search, int width, int height, int range, std::uint32_t seed) {
            const RaceCase c = race::timed_case(width, height, range, seed);
            const race::SearchedCase found = search_case(search, c, {.at_end = seed % 2 == 0, .place = seed | 1});
            judge.check(c, found);
            const double scale = static_cast<double>(width / 8) * (height / 8) / static_cast<double>(c.blocks());
            const auto& sads = found.results.sads;
            return py::make_tuple(scale * found.seconds, scale * found.cpu_seconds, std::accumulate(sads.begin(), sads.end(), std::uint64_t{0}));
          },
          "search"_a, "width"_a, "height"_a, "search_range"_a, "seed"_a)
      .def(
          "check_times",
          [](Judge& judge, double median, double fastest, double again) {
            judge.check_times({.median = median, .fastest = fastest, .again = again, .shortest = 100e-6});
          },
          "median"_a, "fastest"_a, "again"_a)
      .def(
          "stopped",
          [](Judge& judge, const std::string& what, const std::string& id, const std::string& text) {
            judge.stopped(what, {id, text, 1});
          },
          "what"_a, "id"_a, "text"_a)
      .def("verdict", &verdict_of);
}

}  // namespace c63::python
