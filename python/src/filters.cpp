#include "c63/filters.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.h"
#include "c63/error.h"
#include "module.h"

namespace c63::python {
namespace {

/// Returns `object` as an array. It must be in host memory and have no gaps.
Array whole(py::handle object, const char* name) {
  Array array(object, name);
  array.require_host();
  array.require_contiguous();
  return array;
}

Array signal(py::handle object, const char* name, const char* dtype) {
  Array array = whole(object, name);
  array.require_dtype(dtype);
  array.require_dimensions(1, "a signal (n,)");
  return array;
}

/// Returns `object` as a picture or a matrix. It must be in host memory, and may have gaps between rows.
Array picture(py::handle object, const char* name) {
  Array array(object, name);
  array.require_host();
  array.require_dimensions(2, "(rows, columns)");
  array.require_contiguous(1);
  return array;
}

template <typename T>
BasicPlaneView<T> view_of(const Array& array) {
  return {static_cast<T*>(array.data()), static_cast<int>(array.shape()[1]), static_cast<int>(array.shape()[0]),
          array.strides()[0] / static_cast<std::ptrdiff_t>(sizeof(T))};
}

template <typename T>
constexpr const char* dtype_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return "uint8";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "uint32";
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
}

/// Returns visit(T()), where T is the C++ type of the array's elements. Calls refuse() if it is none of Types.
template <typename... Types, typename Visit>
py::object for_type(const Array& array, Visit&& visit) {
  py::object result;
  static_cast<void>(((array.dtype() == dtype_of<Types>() && (result = visit(Types{}), true)) || ...));
  if (!result) {
    std::string known;
    ((known += (known.empty() ? "" : " or ") + std::string(dtype_of<Types>())), ...);
    array.refuse("C63-ARRAY-DTYPE", known);
  }
  return result;
}

/// Returns a numpy array of `count` values that fill(values) computes without the GIL.
template <typename T, typename Fill>
py::object filled(std::ptrdiff_t count, std::vector<py::ssize_t> shape, Fill&& fill) {
  std::vector<T> values(static_cast<std::size_t>(count));
  {
    const py::gil_scoped_release released;
    fill(values);
  }
  return numpy_array<T>(std::move(values), std::move(shape));
}

py::object convolve_signal(py::handle values, py::handle taps) {
  const Array in = signal(values, "signal", "float64");
  const Array factors = signal(taps, "taps", "float64");
  return filled<double>(in.shape()[0], {in.shape()[0]}, [&](std::vector<double>& out) {
    convolve(in.span<const double>(), factors.span<const double>(), out);
  });
}

/// Convolves a picture. The taps of a picture of uint8 are int32; those of a picture of float32 are float32.
py::object convolve_picture(py::handle in, py::handle taps, py::handle row, py::handle column, py::handle scale) {
  const Array from = picture(in, "picture");
  const auto divisor = value_of<double>(scale, "divisor");
  return for_type<std::uint8_t, float>(from, [&](auto zero) {
    using Sample = decltype(zero);
    std::conditional_t<std::is_floating_point_v<Sample>, FloatKernel, ByteKernel> kernel;
    using Tap = typename decltype(kernel.taps)::value_type;
    const auto take = [](py::handle object, const char* name, int dimensions) {
      const Array array = whole(object, name);
      array.require_dtype(dtype_of<Tap>());
      array.require_dimensions(dimensions, dimensions == 2 ? "a square kernel (k, k)" : "a factor (k,)");
      if (array.shape().front() != array.shape().back()) array.refuse("C63-ARRAY-SHAPE", "a square kernel (k, k)");
      const auto values = array.span<const Tap>();
      return std::vector<Tap>(values.begin(), values.end());
    };
    kernel.taps = take(taps, "taps", 2);
    kernel.size = static_cast<int>(std::lround(std::sqrt(kernel.taps.size())));
    if (!row.is_none()) kernel.row = take(row, "row", 1);
    if (!column.is_none()) kernel.column = take(column, "column", 1);
    if (std::is_integral_v<Tap> &&
        !(divisor >= 1 && divisor <= std::numeric_limits<Tap>::max() && std::floor(divisor) == divisor)) {
      refuse("divisor", "a whole number from 1 on for kernels of bytes", scale);
    }
    kernel.divisor = static_cast<Tap>(divisor);
    const auto view = view_of<const Sample>(from);
    return filled<Sample>(
        std::ptrdiff_t{view.height} * view.width, {view.height, view.width}, [&](std::vector<Sample>& out) {
          convolve(view, kernel, BasicPlaneView<Sample>{out.data(), view.width, view.height, view.width});
        });
  });
}

/// Returns the fields of c63.filters.Kernel for one of the library's kernels.
py::tuple parts_of(ByteKernel kernel) {
  return py::make_tuple(numpy_array<std::int32_t>(std::move(kernel.taps), {kernel.size, kernel.size}), kernel.divisor,
                        array_or_none<std::int32_t>(std::move(kernel.row), {kernel.size}),
                        array_or_none<std::int32_t>(std::move(kernel.column), {kernel.size}));
}

py::object count(py::handle values, py::handle bins) {
  const Array bytes = byte_array(values, "values");
  BinMap map = BinMap::identity();
  if (!bins.is_none()) {
    const Array table = signal(bins, "bins", "uint8");
    if (table.size() != map.bin.size()) table.refuse("C63-ARRAY-SHAPE", "(256,)");
    std::ranges::copy(table.span<const std::uint8_t>(), map.bin.begin());
    map.bins = 1 + *std::ranges::max_element(map.bin);
  }
  return filled<std::uint64_t>(map.bins, {map.bins}, [&](std::vector<std::uint64_t>& out) {
    histogram(bytes.span<const std::uint8_t>(), map, out);
  });
}

py::object reduce(py::handle values, const std::string& operation) {
  const Array array = whole(values, "values");
  return for_type<std::uint8_t, std::int32_t, float, double>(array, [&](auto zero) -> py::object {
    using T = decltype(zero);
    const auto all = array.span<const T>();
    const auto run = [](auto&& compute) {
      const py::gil_scoped_release released;
      return compute();
    };
    if (operation == "sum") return py::cast(run([&] { return sum(all); }));
    if (operation == "minimum") return py::cast(run([&] { return minimum(all); }));
    if (operation == "maximum") return py::cast(run([&] { return maximum(all); }));
    if (operation == "argmax") return py::cast(run([&] { return argmax(all); }));
    return py::cast(run([&] { return argmin(all); }));
  });
}

std::uint64_t squared_errors(py::handle a, py::handle b) {
  const Array x = byte_array(a, "a");
  const Array y = byte_array(b, "b");
  if (x.shape() != y.shape()) y.refuse("C63-ARRAY-SHAPE", shape_text(x.shape()));
  const py::gil_scoped_release released;
  return sum_of_squared_errors(x.span<const std::uint8_t>(), y.span<const std::uint8_t>());
}

py::object scan(py::handle values, bool exclusive) {
  const Array in = whole(values, "values");
  in.require_dimensions(1, "a signal (n,)");
  return for_type<std::int32_t, std::uint32_t, double>(in, [&](auto zero) {
    using T = decltype(zero);
    return filled<T>(in.shape()[0], {in.shape()[0]}, [&](std::vector<T>& out) {
      exclusive ? exclusive_scan(in.span<const T>(), std::span(out)) : inclusive_scan(in.span<const T>(), std::span(out));
    });
  });
}

py::object product(py::handle a, py::handle b) {
  const Array left = picture(a, "a");
  const Array right = picture(b, "b");
  for (const Array* const matrix : {&left, &right}) matrix->require_dtype("float32");
  const auto rows = left.shape()[0];
  const auto columns = right.shape()[1];
  return filled<float>(rows * columns, {rows, columns}, [&](std::vector<float>& out) {
    multiply(view_of<const float>(left), view_of<const float>(right), {out.data(), static_cast<int>(columns), static_cast<int>(rows), columns});
  });
}

py::object shift(py::handle reference, py::handle frame) {
  const Array before = picture(reference, "reference");
  const Array after = picture(frame, "frame");
  after.require_dtype(before.dtype());
  return for_type<std::uint8_t, float>(before, [&](auto zero) -> py::object {
    using Sample = decltype(zero);
    std::optional<FrameShift> found;
    {
      const py::gil_scoped_release released;
      found = estimate_shift<Sample>(view_of<const Sample>(before), view_of<const Sample>(after));
    }
    return found ? py::make_tuple(found->dx, found->dy) : py::object(py::none());
  });
}

py::object whiten_frames(py::handle frames, py::handle memory, py::handle method, py::handle degree, py::handle epsilon,
                         py::handle reject) {
  WhiteningSettings settings{.memory = value_of<int>(memory, "memory"),
                             .degree = value_of<int>(degree, "degree"),
                             .epsilon = value_of<double>(epsilon, "epsilon")};
  if (!reject.is_none()) settings.reject = value_of<double>(reject, "reject");
  const auto name = value_of<std::string>(method, "method");
  if (name != "shift" && name != "correlation") refuse("method", "shift or correlation", method);
  settings.method = name == "shift" ? WhiteningMethod::shift : WhiteningMethod::correlation;
  check_whitening(settings);
  const Array in = whole(frames, "frames");
  in.require_dimensions(3, "(n, height, width)");
  const int height = static_cast<int>(in.shape()[1]);
  const int width = static_cast<int>(in.shape()[2]);
  const auto size = static_cast<std::ptrdiff_t>(height) * width;
  const auto count = std::max<std::ptrdiff_t>(0, in.shape()[0] - settings.memory);
  return for_type<std::uint8_t, float>(in, [&](auto zero) {
    using Sample = decltype(zero);
    return filled<float>(count * size, {count, height, width}, [&](std::vector<float>& out) {
      Whitener<Sample> whitener(width, height, settings);
      float* to = out.data();
      for (std::ptrdiff_t i = 0; i < in.shape()[0]; ++i) {
        const Sample* const from = static_cast<const Sample*>(in.data()) + i * size;
        if (whitener.push({from, width, height, width}, {to, width, height, width})) to += size;
      }
    });
  });
}

}  // namespace

void add_filters(py::module_& module) {
  using namespace py::literals;
  module.def("convolve_signal", convolve_signal, "signal"_a, "taps"_a);
  module.def("convolve_picture", convolve_picture, "picture"_a, "taps"_a, "row"_a, "column"_a, "divisor"_a);
  module.def(
      "mean_kernel", [](py::handle size) { return parts_of(mean_kernel(value_of<int>(size, "size"))); }, "size"_a);
  module.def(
      "gauss_kernel", [](py::handle sigma) { return parts_of(gauss_kernel(value_of<double>(sigma, "sigma"))); },
      "sigma"_a);
  module.def(
      "mean_taps", [](py::handle width) { return mean_taps(value_of<int>(width, "width")); }, "width"_a);
  module.def("histogram", count, "values"_a, "bins"_a);
  module.def("reduce", reduce, "values"_a, "operation"_a);
  module.def("sum_of_squared_errors", squared_errors, "a"_a, "b"_a);
  module.def("scan", scan, "values"_a, "exclusive"_a);
  module.def("multiply", product, "a"_a, "b"_a);
  module.def("estimate_shift", shift, "reference"_a, "frame"_a);
  module.def("whiten", whiten_frames, "frames"_a, "memory"_a, "method"_a, "degree"_a, "epsilon"_a, "reject"_a);
}

}  // namespace c63::python
