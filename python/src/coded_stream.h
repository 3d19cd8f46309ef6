#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "c63/thread_arena.h"

namespace c63::python {

namespace py = pybind11;

/// Coded frames on their way into one stream: an object of Python that grows with it, or room of the caller's.
///
/// Memory that is written for the first time costs the system more than the copy, so frames are copied many at once, by all
/// threads of an arena, and into what is handed out in the end.
class CodedStream {
 public:
  /// `room`: where the stream goes. Nothing: bytes are made for it.
  explicit CodedStream(std::optional<std::span<std::uint8_t>> room) : room_(room) {}
  /// With the GIL.
  ~CodedStream() { Py_XDECREF(bytes_); }
  CodedStream(const CodedStream&) = delete;
  CodedStream& operator=(const CodedStream&) = delete;

  /// Adds a frame; called without the GIL, by one thread. Throws Error (limit, C63-ROOM) where the room is too small, and
  /// std::bad_alloc.
  void append(std::vector<std::uint8_t>&& frame, ThreadArena& arena);
  /// Copies what is still to be copied, and leaves no more room than there is stream; likewise.
  void finish(ThreadArena& arena);

  /// The bytes that were made; null where the caller had room. With the GIL.
  [[nodiscard]] py::object take_bytes() { return py::reinterpret_steal<py::object>(std::exchange(bytes_, nullptr)); }
  [[nodiscard]] std::size_t size() const { return written_; }

 private:
  void copy_waiting(ThreadArena& arena);
  void set_capacity(std::size_t capacity);

  std::optional<std::span<std::uint8_t>> room_;
  PyObject* bytes_ = nullptr;  ///< as large as capacity_
  std::uint8_t* to_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t written_ = 0;
  std::vector<std::vector<std::uint8_t>> waiting_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace c63::python
