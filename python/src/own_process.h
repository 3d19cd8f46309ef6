#pragma once

#include <unistd.h>

#include <memory>

namespace c63::python {

/// Deletes an object only in the process that created it. A forked child has a copy of the object but not its threads,
/// so a destructor that joins them would wait forever.
template <typename T>
class DeleteInOwnProcess {
 public:
  void operator()(T* object) const {
    if (::getpid() == process_) delete object;
  }

 private:
  pid_t process_ = ::getpid();
};

/// The pointer by which a Python object owns a C++ object that has threads or locks.
template <typename T>
using OwnProcessPtr = std::unique_ptr<T, DeleteInOwnProcess<T>>;

/// Remembers the process in which it was created.
class OwnProcess {
 public:
  [[nodiscard]] bool is_current() const { return ::getpid() == process_; }

 private:
  pid_t process_ = ::getpid();
};

}  // namespace c63::python
