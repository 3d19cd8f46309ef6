#include "settings.h"

#include <pybind11/stl.h>

#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "c63/error.h"

namespace c63::python {
namespace {

namespace py = pybind11;

[[noreturn]] void refuse(const char* field, const std::string& wanted, py::handle given) {
  throw Error(ErrorKind::usage, "C63-SETTING", std::string(field) + ": wanted " + wanted + ", got " + py::repr(given).cast<std::string>());
}

/// Returns `given` as a T. numpy's numbers are accepted; True and False are not.
template <typename T>
T value_of(py::handle given, const char* field) {
  if constexpr (std::is_same_v<T, bool>) {
    py::detail::make_caster<bool> caster;
    if (given.is_none() || !caster.load(given, false)) refuse(field, "True or False", given);
    return py::detail::cast_op<bool>(caster);
  } else if constexpr (std::is_floating_point_v<T>) {
    const double number = PyBool_Check(given.ptr()) ? -1 : PyFloat_AsDouble(given.ptr());
    if (PyBool_Check(given.ptr()) || (number == -1 && PyErr_Occurred() != nullptr)) {
      PyErr_Clear();
      refuse(field, "a number", given);
    }
    return number;
  } else {
    const auto wanted = "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " + std::to_string(std::numeric_limits<T>::max());
    const auto index = py::reinterpret_steal<py::object>(PyBool_Check(given.ptr()) ? nullptr : PyNumber_Index(given.ptr()));
    if (!index) {
      PyErr_Clear();
      refuse(field, "a whole number", given);
    }
    if constexpr (std::is_unsigned_v<T>) {
      const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
      if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        refuse(field, wanted, given);
      }
      return static_cast<T>(number);
    } else {
      int overflow = 0;
      const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
      if (overflow != 0 || number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) refuse(field, wanted, given);
      return static_cast<T>(number);
    }
  }
}

template <typename T>
void set(T& value, py::handle object, const char* field) {
  value = value_of<T>(object.attr(field), field);
}

/// None leaves the choice to the preset.
template <typename T>
void set(std::optional<T>& value, py::handle object, const char* field) {
  const py::object given = object.attr(field);
  if (!given.is_none()) value = value_of<T>(given, field);
}

/// Returns a text. Throws Error (usage) for anything else.
std::string text_of(py::handle object, const char* field) {
  const py::object given = object.attr(field);
  if (!py::isinstance<py::str>(given)) refuse(field, "a str", given);
  return given.cast<std::string>();
}

/// Returns the value of a name in one of the library's lists of names.
template <typename T>
T named(py::handle object, const char* field, std::optional<T> (*from)(std::string_view), const std::vector<T>& all) {
  const std::string text = text_of(object, field);
  if (const std::optional<T> value = from(text)) return *value;
  std::string known;
  for (const T value : all) known += (known.empty() ? "" : ", ") + std::string(name(value));
  throw Error(ErrorKind::usage, "C63-SETTING", std::string(field) + ": wanted one of " + known + ", got '" + text + "'");
}

/// The same for the two choices that have no such list.
template <typename T>
std::optional<T> either(py::handle object, const char* field, std::pair<const char*, T> a, std::pair<const char*, T> b) {
  const py::object given = object.attr(field);
  if (given.is_none()) return std::nullopt;
  const std::string text = text_of(object, field);
  if (text == a.first) return a.second;
  if (text == b.first) return b.second;
  throw Error(ErrorKind::usage, "C63-SETTING",
              std::string(field) + ": wanted " + a.first + ", " + b.first + " or None, got '" + text + "'");
}

CodingSettings coding_from(py::handle object) {
  CodingSettings coding;
  coding.preset = named(object, "preset", preset_from, all_presets());
  set(coding.qp, object, "qp");
  set(coding.key_interval, object, "keyint");
  set(coding.scene_cuts, object, "scenecut");
  std::optional<int> search_range;
  set(search_range, object, "merange");
  coding.search_range = search_range.value_or(search_range_of(coding.preset));
  coding.method = named(object, "me", search_method_from, all_search_methods());
  RateSettings& rate = coding.rate;
  rate.tables = either<TableShape>(object, "tables", {"course", TableShape::course}, {"flat", TableShape::flat});
  rate.headers = either<HeaderSet>(object, "headers", {"full", HeaderSet::full}, {"compact", HeaderSet::compact});
  set(rate.choose_levels, object, "rdoq");
  set(rate.candidates, object, "candidates");
  set(rate.beam, object, "beam");
  set(rate.unpredicted, object, "unpredicted");
  set(rate.repeats, object, "repeats");
  set(rate.adaptive_reference, object, "adaptive_reference");
  set(rate.temporal_filter, object, "temporal_filter");
  set(rate.propagated_weights, object, "propagated_weights");
  set(rate.chroma_lambda, object, "chroma_lambda");
  if (const auto tune = either<Tune>(object, "tune", {"psnr", Tune::psnr}, {"ssim", Tune::ssim})) rate.tune = *tune;
  set(rate.lambda_scale, object, "lambda_scale");
  return coding;
}

}  // namespace

int int_from(py::handle given, const char* name) { return value_of<int>(given, name); }

std::vector<int> ints_from(py::handle given, const char* name) {
  std::vector<int> numbers;
  for (const py::handle number : given) {
    numbers.push_back(value_of<int>(number, name));
    if (numbers.back() < 0) refuse(name, "whole numbers from 0", number);
  }
  return numbers;
}

ExecutionSettings execution_from(py::handle object) {
  ExecutionSettings execution;
  set(execution.threads, object, "threads");
  set(execution.lanes, object, "lanes");
  if (!object.attr("simd").is_none()) execution.simd = named(object, "simd", simd_level_from, all_simd_levels());
  if (!object.attr("max_memory").is_none()) set(execution.limits.max_memory, object, "max_memory");
  if (!object.attr("max_pixels").is_none()) set(execution.limits.max_pixels, object, "max_pixels");
  return execution;
}

EncoderSettings settings_from(py::handle object) {
  EncoderSettings settings;
  settings.coding = coding_from(object);
  settings.execution = execution_from(object);
  MeasurementSettings& measurement = settings.measurement;
  set(measurement.psnr, object, "psnr");
  set(measurement.ssim, object, "ssim");
  set(measurement.global_motion, object, "global_motion");
  set(measurement.keep_reconstruction, object, "keep_reconstruction");
  set(measurement.keep_prediction, object, "keep_prediction");
  set(measurement.keep_motion, object, "keep_motion");
  return settings;
}

std::optional<TargetRequest> target_from(py::handle object) {
  TargetRequest request;
  const auto take = [&](const char* field, Target::Kind kind) {
    const py::object given = object.attr(field);
    if (given.is_none()) return false;
    request.target = {kind, given.cast<double>()};
    return true;
  };
  const auto take_psnr = [&] {
    const py::object given = object.attr("target_psnr");
    if (!py::isinstance<py::tuple>(given)) return take("target_psnr", Target::Kind::psnr_y);
    const auto [planes, value] = given.cast<std::pair<std::string, double>>();
    request.target = {planes == "all" ? Target::Kind::psnr_all : Target::Kind::psnr_y, value};
    return true;
  };
  if (!take("bitrate", Target::Kind::bitrate) && !take("size", Target::Kind::bytes) && !take_psnr() &&
      !take("target_ssim", Target::Kind::ssim_y)) {
    return std::nullopt;
  }
  set(request.gop_cap, object, "gop_cap");
  set(request.frames_per_s, object, "fps");
  return request;
}

py::dict choices() {
  const auto names_of = [](const auto& all) {
    py::list names;
    for (const auto value : all) names.append(std::string(name(value)));
    return names;
  };
  py::dict all;
  all["preset"] = names_of(all_presets());
  all["me"] = names_of(all_search_methods());
  all["simd"] = names_of(all_simd_levels());
  return all;
}

py::dict defaults() {
  const EncoderSettings s;
  const Limits& limits = s.execution.limits;
  using namespace py::literals;
  return py::dict("qp"_a = s.coding.qp, "preset"_a = std::string(name(s.coding.preset)),
                  "keyint"_a = s.coding.key_interval, "scenecut"_a = s.coding.scene_cuts,
                  "merange"_a = s.coding.search_range, "me"_a = std::string(name(s.coding.method)),
                  "tune"_a = std::string(name(s.coding.rate.tune)), "lambda_scale"_a = s.coding.rate.lambda_scale,
                  "threads"_a = s.execution.threads, "lanes"_a = s.execution.lanes, "max_memory"_a = limits.max_memory,
                  "max_pixels"_a = limits.max_pixels, "psnr"_a = s.measurement.psnr, "ssim"_a = s.measurement.ssim,
                  "global_motion"_a = s.measurement.global_motion,
                  "keep_reconstruction"_a = s.measurement.keep_reconstruction,
                  "keep_prediction"_a = s.measurement.keep_prediction, "keep_motion"_a = s.measurement.keep_motion);
}

}  // namespace c63::python
