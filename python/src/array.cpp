#include "array.h"

#include <dlpack/dlpack.h>

#include <array>
#include <map>
#include <utility>

#include "c63/error.h"

namespace c63::python {
namespace {

[[noreturn]] void refuse_kind(const std::string& name, const std::string& got) {
  throw Error(ErrorKind::usage, "C63-ARRAY-KIND",
              name + ": wanted an array (buffer protocol, __cuda_array_interface__ or DLPack), got " + got);
}

/// Returns numpy's name of a type, such as "uint8". `format` is one of Python's struct module, or a typestr.
const std::string& dtype_name(std::string format) {
  static std::map<std::string, std::string> known;  // guarded by the GIL
  if (format.starts_with('@')) format.erase(0, 1);  // the native byte order, which numpy does not write
  const auto [found, is_new] = known.try_emplace(format, "items of format " + format);
  if (!is_new) return found->second;
  try {
    found->second = py::str(py::module_::import("numpy").attr("dtype")(format));
  } catch (const py::error_already_set&) {  // a structure
  }
  return found->second;
}

}  // namespace

std::string shape_text(std::span<const std::ptrdiff_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Array::Array(py::handle object, std::string name, std::uintptr_t stream) : name_(std::move(name)) {
  // Arrays on GPUs are tried first: CuPy's arrays also have the buffer protocol, but using it raises an exception.
  if (const py::object interface = py::getattr(object, "__cuda_array_interface__", py::none()); !interface.is_none()) {
    take_cuda_interface(interface.cast<py::dict>());
    owner_ = std::make_shared<py::object>(py::reinterpret_borrow<py::object>(object));
  } else if (PyObject_CheckBuffer(object.ptr()) != 0) {
    take_buffer(object);
  } else if (py::hasattr(object, "__dlpack__")) {
    take_dlpack(object, stream);
  } else {
    refuse_kind(name_, std::string(py::str(py::type::of(object).attr("__name__"))));
  }
  if (strides_.empty()) fill_strides();
}

void Array::take_buffer(py::handle object) {
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_RECORDS_RO) != 0) throw py::error_already_set();
  Py_buffer* const view = buffer.release();
  owner_ = std::shared_ptr<void>(view, [](void* p) {
    PyBuffer_Release(static_cast<Py_buffer*>(p));
    delete static_cast<Py_buffer*>(p);
  });
  data_ = view->buf;
  item_bytes_ = view->itemsize;
  dtype_ = dtype_name(view->format == nullptr ? "B" : view->format);
  writable_ = view->readonly == 0;
  shape_.assign(view->shape, view->shape + view->ndim);
  strides_.assign(view->strides, view->strides + view->ndim);
}

void Array::take_cuda_interface(const py::dict& interface) {
  const auto type = interface["typestr"].cast<std::string>();
  if (type.size() < 3) refuse_kind(name_, "elements of type " + type);
  dtype_ = dtype_name(type);
  item_bytes_ = std::stoi(type.substr(2));
  const auto data = interface["data"].cast<py::tuple>();
  data_ = reinterpret_cast<void*>(data[0].cast<std::uintptr_t>());
  writable_ = !data[1].cast<bool>();
  device_ = 0;  // the interface does not name the device; code that uses the samples asks CUDA
  for (const auto side : interface["shape"].cast<py::tuple>()) shape_.push_back(side.cast<std::ptrdiff_t>());
  if (interface.contains("strides") && !interface["strides"].is_none()) {
    for (const auto stride : interface["strides"].cast<py::tuple>()) strides_.push_back(stride.cast<std::ptrdiff_t>());
  }
}

void Array::take_dlpack(py::handle object, std::uintptr_t stream) {
  const auto place = object.attr("__dlpack_device__")().cast<std::pair<int, int>>();
  const bool cuda = place.first == kDLCUDA || place.first == kDLCUDAManaged;
  if (!cuda && place.first != kDLCPU && place.first != kDLCUDAHost) {
    throw Error(ErrorKind::usage, "C63-ARRAY-DEVICE",
                name_ + ": wanted an array in host memory or on a CUDA device, got one on DLPack device (" +
                    std::to_string(place.first) + ", " + std::to_string(place.second) + ")");
  }
  constexpr std::uintptr_t kLegacyDefaultStream = 1;  // DLPack's number for CUDA's default stream
  const py::object capsule =
      cuda ? object.attr("__dlpack__")(py::arg("stream") = stream != 0 ? stream : kLegacyDefaultStream)
           : object.attr("__dlpack__")();
  auto* const managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw py::error_already_set();
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");  // marks the capsule as taken: the deleter is now called by owner_
  owner_ = std::shared_ptr<void>(managed, [](void* p) {
    auto* const tensor = static_cast<DLManagedTensor*>(p);
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  });
  const DLTensor& tensor = managed->dl_tensor;
  if (tensor.dtype.lanes != 1) refuse_kind(name_, "an array of vectors");
  item_bytes_ = (tensor.dtype.bits + 7) / 8;
  constexpr std::array kKinds = {'i', 'u', 'f', 'V', 'V', 'c', 'b'};  // by DLPack's number of a type
  dtype_ =
      dtype_name((tensor.dtype.code < kKinds.size() ? kKinds[tensor.dtype.code] : 'V') + std::to_string(item_bytes_));
  data_ = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  writable_ = true;
  device_ = cuda ? place.second : -1;
  shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides == nullptr) return;
  for (int i = 0; i < tensor.ndim; ++i) strides_.push_back(tensor.strides[i] * item_bytes_);
}

void Array::fill_strides() {
  strides_.resize(shape_.size());
  std::ptrdiff_t stride = item_bytes_;
  for (std::size_t i = shape_.size(); i-- > 0;) {
    strides_[i] = stride;
    stride *= shape_[i];
  }
}

std::size_t Array::size() const {
  std::size_t count = 1;
  for (const std::ptrdiff_t side : shape_) count *= static_cast<std::size_t>(side);
  return count;
}

bool Array::contiguous_from(int first) const {
  if (size() == 0) return true;
  std::ptrdiff_t stride = item_bytes_;
  for (int i = dimensions() - 1; i >= first; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (shape_[at] != 1 && strides_[at] != stride) return false;
    stride *= shape_[at];
  }
  return true;
}

std::string Array::description() const {
  std::string text = dtype_ + " " + shape_text(shape_);
  if (!contiguous_from(0)) text += " with strides " + shape_text(strides_);
  if (on_device()) text += " on cuda:" + std::to_string(device_);
  return text;
}

void Array::refuse(const char* id, const std::string& wanted) const {
  throw Error(ErrorKind::usage, id, name_ + ": wanted " + wanted + ", got " + description());
}

void Array::require_dtype(const std::string& dtype) const {
  if (dtype_ != dtype) refuse("C63-ARRAY-DTYPE", dtype);
}

void Array::require_dimensions(int count, const std::string& wanted) const {
  if (dimensions() != count) refuse("C63-ARRAY-SHAPE", wanted);
}

void Array::require_contiguous(int first) const {
  if (contiguous_from(first)) return;
  refuse("C63-ARRAY-STRIDES", first == 0 ? "a C-contiguous array (numpy.ascontiguousarray makes one)"
                                         : "rows and frames without gaps (numpy.ascontiguousarray makes them)");
}

void Array::require_host() const {
  if (on_device()) refuse("C63-ARRAY-DEVICE", "an array in host memory");
}

void Array::require_writable() const {
  if (!writable_) refuse("C63-ARRAY-READONLY", "an array that can be written to");
}

Array byte_array(py::handle object, const char* name, bool writable) {
  Array array(object, name);
  array.require_host();
  array.require_dtype("uint8");
  array.require_contiguous();
  if (writable) array.require_writable();
  return array;
}

}  // namespace c63::python
