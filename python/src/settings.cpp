#include "settings.h"

#include <string>

#include "c63/error.h"

namespace c63::python {
namespace {

namespace py = pybind11;

template <typename T>
void set(T& value, py::handle object, const char* field) {
  value = object.attr(field).cast<T>();
}

/// None leaves the choice to the preset.
template <typename T>
void set(std::optional<T>& value, py::handle object, const char* field) {
  const py::object given = object.attr(field);
  if (!given.is_none()) value = given.cast<T>();
}

/// What a name means, by one of the library's own lists of names.
template <typename T>
T named(py::handle object, const char* field, std::optional<T> (*from)(std::string_view), const std::vector<T>& all) {
  const auto text = object.attr(field).cast<std::string>();
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
  const auto text = given.cast<std::string>();
  if (text == a.first) return a.second;
  if (text == b.first) return b.second;
  throw Error(ErrorKind::usage, "C63-SETTING",
              std::string(field) + ": wanted " + a.first + ", " + b.first + " or None, got '" + text + "'");
}

CodingSettings coding_from(py::handle object) {
  CodingSettings coding;
  coding.preset = named(object, "preset", preset_from, all_presets());
  set(coding.qp, object, "qp");
  set(coding.key_interval, object, "key_interval");
  set(coding.scene_cuts, object, "scene_cuts");
  std::optional<int> search_range;
  set(search_range, object, "search_range");
  coding.search_range = search_range.value_or(search_range_of(coding.preset));
  coding.method = named(object, "method", search_method_from, all_search_methods());
  RateSettings& rate = coding.rate;
  rate.tables = either<TableShape>(object, "tables", {"course", TableShape::course}, {"flat", TableShape::flat});
  rate.headers = either<HeaderSet>(object, "headers", {"full", HeaderSet::full}, {"compact", HeaderSet::compact});
  set(rate.choose_levels, object, "choose_levels");
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

ExecutionSettings execution_from(py::handle object) {
  ExecutionSettings execution;
  set(execution.threads, object, "threads");
  set(execution.lanes, object, "lanes");
  if (!object.attr("simd").is_none()) execution.simd = named(object, "simd", simd_level_from, all_simd_levels());
  if (!object.attr("max_memory").is_none()) set(execution.limits.max_memory, object, "max_memory");
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

}  // namespace c63::python
