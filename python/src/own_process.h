#pragma once

#include <unistd.h>

#include <memory>

namespace c63::python {

/// Deletes an object in the process that made it. A forked child has the object, but not its threads. Waiting for them
/// would never end, so a child does not delete the object.
template <typename T>
class DeleteInOwnProcess {
 public:
  void operator()(T* object) const {
    if (::getpid() == process_) delete object;
  }

 private:
  pid_t process_ = ::getpid();
};

/// Holds objects with threads or locks for Python.
template <typename T>
using OwnProcessPtr = std::unique_ptr<T, DeleteInOwnProcess<T>>;

/// The process that made an object.
class OwnProcess {
 public:
  [[nodiscard]] bool is_current() const { return ::getpid() == process_; }

 private:
  pid_t process_ = ::getpid();
};

}  // namespace c63::python
