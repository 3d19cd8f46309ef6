#include "settings.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "c63/error.h"
#include "c63/options.h"
#include "module.h"

namespace c63::python {
namespace {

namespace py = pybind11;

template <typename T>
void set(T& value, py::handle given, const char* field) {
  value = value_of<T>(given, field);
}
template <typename T>
void set(std::optional<T>& value, py::handle given, const char* field) {
  value = value_of<T>(given, field);
}

std::string python_name(const OptionInfo& option) {
  std::string name(option.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Adds the type and the default of an option to its row, and the names of all values if the type is an enum.
template <typename T>
void describe(py::dict row, const T& value) {
  row["type"] = std::is_same_v<T, bool> ? "bool" : std::is_enum_v<T> ? "name" : std::is_floating_point_v<T> ? "float" : "int";
  if constexpr (std::is_enum_v<T>) {
    py::list names;
    for (const auto& entry : names_of<T>()) names.append(std::string(entry.second));
    row["names"] = names;
    row["default"] = std::string(name(value));
  } else {
    row["default"] = value;
  }
}
template <typename T>
void describe(py::dict row, const std::optional<T>&) {
  describe(row, T{});
  row["default"] = py::none();
}

}  // namespace

void refuse(const char* name, const std::string& wanted, py::handle given) {
  throw Error(ErrorKind::usage, "C63-SETTING",
              std::string(name) + ": wanted " + wanted + ", got " + py::repr(given).cast<std::string>());
}

void add_arguments(py::module_& module) {
  using namespace py::literals;
  using Limits = std::numeric_limits<int>;
  module.def(
      "flag", [](const char* name, py::handle given) { return value_of<bool>(given, name); }, "name"_a, "value"_a);
  module.def(
      "integer",
      [](const char* name, py::handle given, int least, int most) {
        const int number = value_of<int>(given, name);
        if (number < least || number > most) {
          refuse(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), given);
        }
        return number;
      },
      "name"_a, "value"_a, "least"_a = Limits::min(), "most"_a = Limits::max());
}

std::vector<int> devices_from(py::handle settings) {
  const py::object given = settings.attr("device");
  std::vector<int> gpus;
  const auto add = [&](py::handle number) {
    gpus.push_back(value_of<int>(number, "device"));
    if (gpus.back() < 0) refuse("device", "GPUs by CUDA's index, such as 0 or [0, 1]", given);
  };
  if (py::isinstance<py::str>(given) || !py::isinstance<py::iterable>(given)) {
    add(given);
  } else {
    for (const py::handle number : given) add(number);
  }
  return gpus;
}

EncoderSettings settings_from(py::handle object) {
  EncoderSettings settings;
  for_each_option(settings, [&](const OptionInfo& option, auto& field) {
    const std::string name = python_name(option);
    const py::object given = object.attr(name.c_str());
    if (!given.is_none()) set(field, given, name.c_str());
  });
  if (object.attr("merange").is_none()) settings.coding.search_range = search_range_of(settings.coding.preset);
  return settings;
}

std::optional<TargetRequest> target_from(py::handle object) {
  std::optional<TargetRequest> request;
  std::string taken;
  const auto take = [&](const char* field, auto&& value) {
    const py::object given = object.attr(field);
    if (given.is_none()) return;
    if (request) throw Error(ErrorKind::usage, "C63-SETTING", taken + ", " + field + ": give only one target");
    taken = field;
    request.emplace().target = value(given);
  };
  const auto number = [](const char* field, Target::Kind kind) {
    return [field, kind](py::handle given) { return Target{kind, value_of<double>(given, field)}; };
  };
  take("bitrate", number("bitrate", Target::Kind::bitrate));
  take("size", [](py::handle given) {
    if (py::isinstance<py::sequence>(given)) refuse("size", "bytes of the stream (the size of pictures is input_res=(width, height))", given);
    return Target{Target::Kind::bytes, static_cast<double>(value_of<std::uint64_t>(given, "size"))};
  });
  take("target_psnr", [&](py::handle given) {
    if (py::isinstance<py::str>(given) || !py::isinstance<py::sequence>(given)) return number("target_psnr", Target::Kind::psnr_y)(given);
    const auto parts = py::tuple(py::reinterpret_borrow<py::object>(given));
    const std::string planes = parts.size() == 2 ? value_of<std::string>(parts[0], "target_psnr") : "";
    if (planes != "y" && planes != "all") refuse("target_psnr", "dB, (\"y\", dB) or (\"all\", dB)", given);
    return number("target_psnr", planes == "all" ? Target::Kind::psnr_all : Target::Kind::psnr_y)(parts[1]);
  });
  take("target_ssim", number("target_ssim", Target::Kind::ssim_y));
  const py::object rate = object.attr("fps");
  if (!rate.is_none() && !(value_of<double>(rate, "fps") > 0 && value_of<double>(rate, "fps") < std::numeric_limits<double>::infinity())) {
    refuse("fps", "a number above 0", rate);
  }
  if (!request) return std::nullopt;
  if (!rate.is_none()) set(request->frames_per_s, rate, "fps");
  return request;
}

py::tuple check_settings(py::handle object) {
  static_cast<void>(settings_from(object));
  static_cast<void>(target_from(object));
  static_cast<void>(value_of<std::string>(object.attr("backend"), "backend"));
  return py::tuple(py::cast(devices_from(object)));
}

py::dict options() {
  py::dict rows;
  for (const OptionInfo& option : all_options()) {
    py::dict row;
    row["group"] = std::string(option.group);
    row["one_of"] = std::string(option.one_of);
    row["by_preset"] = option.by_preset;
    row["help"] = std::string(option.help);
    row["details"] = details_of(option);
    rows[python_name(option).c_str()] = row;
  }
  const EncoderSettings settings;
  for_each_option(settings, [&](const OptionInfo& option, const auto& value) {
    describe(rows[python_name(option).c_str()].template cast<py::dict>(), value);
  });
  return rows;
}

}  // namespace c63::python
