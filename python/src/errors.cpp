#include <string>

#include "c63/error.h"
#include "module.h"

namespace c63::python {
namespace {

namespace py = pybind11;

/// The names of ErrorKind's values, in their order.
constexpr const char* kKinds[] = {"internal", "usage", "input", "limit", "output", "memory", "device", "comparison"};

template <typename T>
py::object or_none(const std::optional<T>& value) {
  return value ? py::cast(*value) : py::none();
}

py::object text_or_none(const std::string& text) { return text.empty() ? py::none() : py::object(text_of(text)); }

void raise(const Error& error) {
  const py::module_ module = py::module_::import("c63._error");
  const bool is_of_file = error.kind() == ErrorKind::input && error.id() == "C63-INPUT-OPEN";
  const py::object type = module.attr(error.kind() == ErrorKind::usage ? "UsageError" : is_of_file ? "FileError" : "Error");
  const ErrorPlace& place = error.place();
  const py::object instance =
      type(text_of(error.what()), py::arg("kind") = kKinds[static_cast<int>(error.kind())], py::arg("id") = error.id(),
           py::arg("message") = text_of(error.message()), py::arg("file") = text_or_none(place.file),
           py::arg("frame") = or_none(place.frame), py::arg("offset") = or_none(place.offset),
           py::arg("block") = text_or_none(place.block));
  PyErr_SetObject(type.ptr(), instance.ptr());
}

}  // namespace

py::str text_of(const std::string& text) {
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

/// Makes c63::Error arrive in Python as c63.Error, or as c63.UsageError for kind `usage`.
void add_errors(py::module_& /*module*/) {
  py::register_exception_translator([](std::exception_ptr fault) {
    try {
      if (fault) std::rethrow_exception(fault);
    } catch (const Error& error) {
      raise(error);
    }
  });
}

}  // namespace c63::python
