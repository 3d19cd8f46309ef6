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

py::object convolve_signal(py::handle values, py::handle taps) {
  const Array in = signal(values, "signal", "float64");
  const Array factors = signal(taps, "taps", "float64");
  std::vector<double> out(in.size());
  {
    const py::gil_scoped_release released;
    convolve(in.span<const double>(), factors.span<const double>(), out);
  }
  return numpy_array<double>(std::move(out), {in.shape()[0]});
}

/// Convolves a picture. The taps of a picture of uint8 are int32; those of a picture of float32 are float32.
py::object convolve_picture(py::handle in, py::handle taps, py::handle row, py::handle column, double divisor) {
  const Array from = picture(in, "picture");
  const auto fill = [&](auto& kernel, const char* dtype) {
    using Tap = typename std::decay_t<decltype(kernel.taps)>::value_type;
    const auto take = [&](py::handle object, const char* name, int dimensions) {
      const Array array = whole(object, name);
      array.require_dtype(dtype);
      array.require_dimensions(dimensions, dimensions == 2 ? "a square kernel (k, k)" : "a factor (k,)");
      const auto values = array.span<const Tap>();
      return std::vector<Tap>(values.begin(), values.end());
    };
    const Array square = whole(taps, "taps");
    square.require_dimensions(2, "a square kernel (k, k)");
    if (square.shape()[0] != square.shape()[1]) square.refuse("C63-ARRAY-SHAPE", "a square kernel (k, k)");
    kernel.size = static_cast<int>(square.shape()[0]);
    kernel.taps = take(taps, "taps", 2);
    if (!row.is_none()) kernel.row = take(row, "row", 1);
    if (!column.is_none()) kernel.column = take(column, "column", 1);
    if constexpr (std::is_integral_v<Tap>) {
      if (!(divisor >= 1 && divisor <= std::numeric_limits<Tap>::max() && std::floor(divisor) == divisor)) {
        throw Error(ErrorKind::usage, "C63-SETTING",
                    "divisor: kernels of bytes take a whole number from 1 on, got " + std::to_string(divisor));
      }
    }
    kernel.divisor = static_cast<Tap>(divisor);
  };
  const auto run = [&](auto kernel, auto zero, const char* dtype) {
    using Sample = decltype(zero);
    fill(kernel, dtype);
    std::vector<Sample> out(from.size());
    const auto view = view_of<const Sample>(from);
    {
      const py::gil_scoped_release released;
      convolve(view, kernel, BasicPlaneView<Sample>{out.data(), view.width, view.height, view.width});
    }
    return numpy_array<Sample>(std::move(out), {view.height, view.width});
  };
  if (from.dtype() == "uint8") return run(ByteKernel{}, std::uint8_t{}, "int32");
  if (from.dtype() == "float32") return run(FloatKernel{}, float{}, "float32");
  from.refuse("C63-ARRAY-DTYPE", "uint8 or float32");
}

/// Returns the fields of c63.filters.Kernel for one of the library's kernels.
py::tuple parts_of(ByteKernel kernel) {
  return py::make_tuple(numpy_array<std::int32_t>(std::move(kernel.taps), {kernel.size, kernel.size}), kernel.divisor,
                        array_or_none<std::int32_t>(std::move(kernel.row), {kernel.size}),
                        array_or_none<std::int32_t>(std::move(kernel.column), {kernel.size}));
}

py::object count(py::handle values, py::handle bins) {
  const Array bytes = whole(values, "values");
  bytes.require_dtype("uint8");
  BinMap map = BinMap::identity();
  if (!bins.is_none()) {
    const Array table = signal(bins, "bins", "uint8");
    if (table.size() != map.bin.size()) table.refuse("C63-ARRAY-SHAPE", "(256,)");
    std::ranges::copy(table.span<const std::uint8_t>(), map.bin.begin());
    map.bins = 1 + *std::ranges::max_element(map.bin);
  }
  std::vector<std::uint64_t> out(static_cast<std::size_t>(map.bins));
  {
    const py::gil_scoped_release released;
    histogram(bytes.span<const std::uint8_t>(), map, out);
  }
  return numpy_array<std::uint64_t>(std::move(out), {map.bins});
}

/// Calls visit(T()) with the C++ type T of the array's elements.
template <typename Visit>
auto for_type(const Array& array, Visit&& visit) {
  if (array.dtype() == "uint8") return visit(std::uint8_t{});
  if (array.dtype() == "int32") return visit(std::int32_t{});
  if (array.dtype() == "float32") return visit(float{});
  if (array.dtype() == "float64") return visit(double{});
  array.refuse("C63-ARRAY-DTYPE", "uint8, int32, float32 or float64");
}

py::object reduce(py::handle values, const std::string& operation) {
  const Array array = whole(values, "values");
  return for_type(array, [&](auto zero) -> py::object {
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
  const Array x = whole(a, "a");
  const Array y = whole(b, "b");
  x.require_dtype("uint8");
  y.require_dtype("uint8");
  if (x.shape() != y.shape()) y.refuse("C63-ARRAY-SHAPE", shape_text(x.shape()));
  const py::gil_scoped_release released;
  return sum_of_squared_errors(x.span<const std::uint8_t>(), y.span<const std::uint8_t>());
}

py::object scan(py::handle values, bool exclusive) {
  const Array in = whole(values, "values");
  in.require_dimensions(1, "a signal (n,)");
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> out(in.size());
    {
      const py::gil_scoped_release released;
      exclusive ? exclusive_scan(in.span<const T>(), std::span(out)) : inclusive_scan(in.span<const T>(), std::span(out));
    }
    return numpy_array<T>(std::move(out), {in.shape()[0]});
  };
  if (in.dtype() == "int32") return run(std::int32_t{});
  if (in.dtype() == "uint32") return run(std::uint32_t{});
  if (in.dtype() == "float64") return run(double{});
  in.refuse("C63-ARRAY-DTYPE", "int32, uint32 or float64");
}

py::object product(py::handle a, py::handle b) {
  const Array left = picture(a, "a");
  const Array right = picture(b, "b");
  for (const Array* const matrix : {&left, &right}) matrix->require_dtype("float32");
  const auto rows = left.shape()[0];
  const auto columns = right.shape()[1];
  std::vector<float> out(static_cast<std::size_t>(rows * columns));
  {
    const py::gil_scoped_release released;
    multiply(view_of<const float>(left), view_of<const float>(right), {out.data(), static_cast<int>(columns), static_cast<int>(rows), columns});
  }
  return numpy_array<float>(std::move(out), {rows, columns});
}

py::object shift(py::handle reference, py::handle frame) {
  const Array before = picture(reference, "reference");
  const Array after = picture(frame, "frame");
  after.require_dtype(before.dtype());
  std::optional<FrameShift> found;
  const auto run = [&](auto zero) {
    using Sample = decltype(zero);
    const py::gil_scoped_release released;
    found = estimate_shift<Sample>(view_of<const Sample>(before), view_of<const Sample>(after));
  };
  if (before.dtype() == "uint8") {
    run(std::uint8_t{});
  } else if (before.dtype() == "float32") {
    run(float{});
  } else {
    before.refuse("C63-ARRAY-DTYPE", "uint8 or float32");
  }
  if (!found) return py::none();
  return py::make_tuple(found->dx, found->dy);
}

py::object whiten_frames(py::handle frames, const WhiteningSettings& settings) {
  const Array in = whole(frames, "frames");
  in.require_dimensions(3, "(n, height, width)");
  const int height = static_cast<int>(in.shape()[1]);
  const int width = static_cast<int>(in.shape()[2]);
  const auto size = static_cast<std::ptrdiff_t>(height) * width;
  const auto count = std::max<std::ptrdiff_t>(0, in.shape()[0] - settings.memory);
  std::vector<float> out(static_cast<std::size_t>(count * size));
  const auto run = [&](auto zero) {
    using Sample = decltype(zero);
    const py::gil_scoped_release released;
    Whitener<Sample> whitener(width, height, settings);
    float* to = out.data();
    for (std::ptrdiff_t i = 0; i < in.shape()[0]; ++i) {
      const Sample* const from = static_cast<const Sample*>(in.data()) + i * size;
      if (whitener.push({from, width, height, width}, {to, width, height, width})) to += size;
    }
  };
  if (in.dtype() == "uint8") {
    run(std::uint8_t{});
  } else if (in.dtype() == "float32") {
    run(float{});
  } else {
    in.refuse("C63-ARRAY-DTYPE", "uint8 or float32");
  }
  return numpy_array<float>(std::move(out), {count, height, width});
}

WhiteningSettings whitening(int memory, const std::string& method, int degree, double epsilon, std::optional<double> reject) {
  WhiteningSettings settings{.memory = memory, .degree = degree, .epsilon = epsilon, .reject = reject};
  if (method == "correlation") {
    settings.method = WhiteningMethod::correlation;
  } else if (method != "shift") {
    throw Error(ErrorKind::usage, "C63-SETTING", "method: wanted shift or correlation, got '" + method + "'");
  }
  check_whitening(settings);
  return settings;
}

}  // namespace

void add_filters(py::module_& module) {
  using namespace py::literals;
  module.def("convolve_signal", convolve_signal, "signal"_a, "taps"_a);
  module.def("convolve_picture", convolve_picture, "picture"_a, "taps"_a, "row"_a, "column"_a, "divisor"_a);
  module.def("mean_kernel", [](int size) { return parts_of(mean_kernel(size)); }, "size"_a);
  module.def("gauss_kernel", [](double sigma) { return parts_of(gauss_kernel(sigma)); }, "sigma"_a);
  module.def("mean_taps", mean_taps, "width"_a);
  module.def("histogram", count, "values"_a, "bins"_a);
  module.def("reduce", reduce, "values"_a, "operation"_a);
  module.def("sum_of_squared_errors", squared_errors, "a"_a, "b"_a);
  module.def("scan", scan, "values"_a, "exclusive"_a);
  module.def("multiply", product, "a"_a, "b"_a);
  module.def("estimate_shift", shift, "reference"_a, "frame"_a);
  module.def(
      "whiten",
      [](py::handle frames, int memory, const std::string& method, int degree, double epsilon, std::optional<double> reject) {
        return whiten_frames(frames, whitening(memory, method, degree, epsilon, reject));
      },
      "frames"_a, "memory"_a, "method"_a, "degree"_a, "epsilon"_a, "reject"_a);
}

}  // namespace c63::python
