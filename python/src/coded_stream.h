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

/// Joins coded frames to one stream, in Python bytes that grow or in an array of the caller.
///
/// Frames are collected first. Then all threads of an arena copy them into the result at the same time, because the
/// result is often new memory. For a process, it takes longer to get new memory from the system than to copy into it.
class CodedStream {
 public:
  /// `room` is the caller's array for the stream. If it is nullopt, Python bytes are made.
  explicit CodedStream(std::optional<std::span<std::uint8_t>> room) : room_(room) {}
  /// Needs the GIL.
  ~CodedStream() { Py_XDECREF(bytes_); }
  CodedStream(const CodedStream&) = delete;
  CodedStream& operator=(const CodedStream&) = delete;

  /// Adds a frame. Call it without the GIL, from one thread at a time. Throws Error (limit, C63-ROOM) if the caller's
  /// array is too small, and std::bad_alloc.
  void append(std::vector<std::uint8_t>&& frame, ThreadArena& arena);
  /// Copies the frames that are not copied yet, and shortens the Python bytes to the length of the stream. Has the same
  /// conditions and errors as append().
  void finish(ThreadArena& arena);

  /// Returns the Python bytes with the stream, or null if the stream is in the caller's array. Needs the GIL.
  [[nodiscard]] py::object take_bytes() { return py::reinterpret_steal<py::object>(std::exchange(bytes_, nullptr)); }
  [[nodiscard]] std::size_t size() const { return written_; }

 private:
  void copy_waiting(ThreadArena& arena);
  void set_capacity(std::size_t capacity);

  std::optional<std::span<std::uint8_t>> room_;
  PyObject* bytes_ = nullptr;  ///< has capacity_ bytes
  std::uint8_t* to_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t written_ = 0;
  std::vector<std::vector<std::uint8_t>> waiting_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace c63::python
