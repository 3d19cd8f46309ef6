#include "coded_stream.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "c63/error.h"

namespace c63::python {

void CodedStream::append(std::vector<std::uint8_t>&& frame, ThreadArena& arena) {
  constexpr std::size_t kCopiedTogether = std::size_t{8} << 20;
  waiting_bytes_ += frame.size();
  waiting_.push_back(std::move(frame));
  if (waiting_bytes_ < kCopiedTogether) return;
  const std::size_t size = written_ + waiting_bytes_;
  if (!room_ && size > capacity_) set_capacity(std::max(2 * capacity_, size));
  copy_waiting(arena);
}

void CodedStream::finish(ThreadArena& arena) {
  if (!room_) set_capacity(written_ + waiting_bytes_);
  copy_waiting(arena);
}

void CodedStream::copy_waiting(ThreadArena& arena) {
  if (room_) {
    to_ = room_->data();
    capacity_ = room_->size();
    if (written_ + waiting_bytes_ > capacity_) {
      throw Error(ErrorKind::limit, "C63-ROOM", "out: the stream takes more than its " + std::to_string(capacity_) + " bytes");
    }
  }
  std::vector<std::uint8_t*> places;
  places.reserve(waiting_.size());
  for (const std::vector<std::uint8_t>& frame : waiting_) {
    places.push_back(to_ + written_);
    written_ += frame.size();
  }
  arena.execute([&] {
    oneapi::tbb::parallel_for(std::size_t{0}, waiting_.size(), [&](std::size_t i) {
      if (!waiting_[i].empty()) std::memcpy(places[i], waiting_[i].data(), waiting_[i].size());
    });
  });
  waiting_.clear();
  waiting_bytes_ = 0;
}

void CodedStream::set_capacity(std::size_t capacity) {
  const py::gil_scoped_acquire acquired;
  // _PyBytes_Resize() moves the memory pages of a large object, and copies no bytes.
  if (bytes_ == nullptr) {
    bytes_ = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(capacity));
  } else {
    _PyBytes_Resize(&bytes_, static_cast<Py_ssize_t>(capacity));
  }
  if (bytes_ == nullptr) {
    PyErr_Clear();
    throw std::bad_alloc();
  }
  to_ = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(bytes_));
  capacity_ = capacity;
}

}  // namespace c63::python
