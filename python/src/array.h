#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c63/motion.h"

namespace c63::python {

namespace py = pybind11;

/// An array of another library, used in place by the buffer protocol, __cuda_array_interface__ or DLPack. The object
/// keeps the array alive. Creating and destroying it needs the GIL.
class Array {
 public:
  /// `name` is the argument's name in error messages. `stream` is the handle of the CUDA stream that will use a device
  /// array. Throws Error (usage): C63-ARRAY-KIND if the object is not an array, C63-ARRAY-DEVICE if the array is
  /// neither in host memory nor on a CUDA device.
  Array(py::handle object, std::string name, std::uintptr_t stream = 0);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] const std::vector<std::ptrdiff_t>& shape() const { return shape_; }
  [[nodiscard]] const std::vector<std::ptrdiff_t>& strides() const { return strides_; }  ///< in bytes
  [[nodiscard]] const std::string& dtype() const { return dtype_; }                      ///< numpy's name: "uint8"
  [[nodiscard]] std::ptrdiff_t item_bytes() const { return item_bytes_; }
  [[nodiscard]] int dimensions() const { return static_cast<int>(shape_.size()); }
  [[nodiscard]] std::size_t size() const;  ///< number of elements
  [[nodiscard]] bool on_device() const { return device_ >= 0; }
  /// CUDA's device index; -1: host memory. For __cuda_array_interface__ it is always 0, because the interface does not
  /// name the device.
  [[nodiscard]] int device() const { return device_; }

  /// Returns true if the dimensions from `first` on are stored without gaps, in C order.
  [[nodiscard]] bool contiguous_from(int first) const;

  /// Returns text such as "uint8 (10, 432, 352)". Adds the strides if there are gaps, and the device if there is one.
  [[nodiscard]] std::string description() const;
  /// Throws Error (usage): "NAME: wanted WANTED, got DESCRIPTION".
  [[noreturn]] void refuse(const char* id, const std::string& wanted) const;

  // Each of these calls refuse() if the array is not as required. The ids are C63-ARRAY-DTYPE, -SHAPE, -STRIDES,
  // -DEVICE and -READONLY.
  void require_dtype(const std::string& dtype) const;
  void require_dimensions(int count, const std::string& wanted) const;
  void require_contiguous(int first = 0) const;
  void require_host() const;
  void require_writable() const;

  /// Returns all elements of a contiguous array in host memory.
  template <typename T>
  [[nodiscard]] std::span<T> span() const {
    return {static_cast<T*>(data_), size()};
  }

 private:
  void take_buffer(py::handle object);
  void take_cuda_interface(const py::dict& interface);
  void take_dlpack(py::handle object, std::uintptr_t stream);
  void fill_strides();

  std::string name_;
  void* data_ = nullptr;
  std::vector<std::ptrdiff_t> shape_;
  std::vector<std::ptrdiff_t> strides_;
  std::string dtype_;
  std::ptrdiff_t item_bytes_ = 1;
  bool writable_ = false;
  int device_ = -1;
  std::shared_ptr<void> owner_;  ///< releases the array when it is destroyed
};

/// Returns `object` as an array of bytes in host memory without gaps. Calls refuse() of the array for others.
[[nodiscard]] Array byte_array(py::handle object, const char* name, bool writable = false);

/// Memory that the library owns and that Python sees through the buffer protocol.
struct Samples {
  std::shared_ptr<void> memory;
  std::string format;
  py::ssize_t item_bytes;
  std::vector<py::ssize_t> shape;
};

/// Returns a numpy array of Items that keeps the values alive. `format` is their format in Python's struct module.
template <typename Item, typename T>
py::object numpy_array(std::vector<T>&& values, std::vector<py::ssize_t> shape, std::string format) {
  const auto kept = std::make_shared<std::vector<T>>(std::move(values));
  kept->reserve(1);  // numpy takes no null pointer
  return py::module_::import("numpy").attr("asarray")(
      Samples{std::shared_ptr<void>(kept, kept->data()), std::move(format), sizeof(Item), std::move(shape)});
}
template <typename Item, typename T>
py::object numpy_array(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  return numpy_array<Item>(std::move(values), std::move(shape), py::format_descriptor<Item>::format());
}

/// Returns the same, but None if there are no values.
template <typename Item, typename T>
py::object array_or_none(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  return values.empty() ? py::object(py::none()) : numpy_array<Item>(std::move(values), std::move(shape));
}

/// Returns a class or a function of the package's Python code.
inline py::object of_package(const char* module, const char* name) { return py::module_::import(module).attr(name); }

/// Returns the samples of a picture as c63.Frames; None if there are none.
inline py::object picture_of(std::vector<std::uint8_t>&& samples, int width, int height) {
  const auto bytes = static_cast<py::ssize_t>(samples.size());
  return of_package("c63._arrays", "picture")(array_or_none<std::uint8_t>(std::move(samples), {bytes}), width, height);
}

/// Returns c63.Motion for each plane that has vectors.
template <typename Fields>
py::tuple motion_of(Fields&& fields) {
  py::list planes;
  for (MotionField& field : fields) {
    if (field.vectors.empty()) continue;
    planes.append(of_package("c63._arrays", "Motion")(
        array_or_none<std::int8_t>(std::move(field.vectors), {field.rows, field.columns, 2}),
        array_or_none<std::uint16_t>(std::move(field.sads), {field.rows, field.columns}),
        array_or_none<bool>(std::move(field.inter), {field.rows, field.columns})));
  }
  return py::tuple(planes);
}

/// Returns a shape as numpy writes it: "(10, 432, 352)", "(5,)".
[[nodiscard]] std::string shape_text(std::span<const std::ptrdiff_t> shape);

}  // namespace c63::python
