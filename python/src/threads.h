#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "c63/error.h"

namespace c63::python {

/// Calls work(stop_token) on a separate thread, without the GIL, and waits for it. Python's signal handlers may run
/// every 50 ms. If a handler raises an exception (Ctrl-C), a stop is requested, and the exception is thrown after
/// `work` has ended.
template <typename Work>
void run_interruptibly(Work&& work) {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr fault;
  std::optional<pybind11::error_already_set> raised;
  {
    const pybind11::gil_scoped_release released;
    std::jthread thread([&](const std::stop_token& stop) {
      try {
        work(stop);
      } catch (...) {
        fault = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      ended.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; })) {
      lock.unlock();
      {
        const pybind11::gil_scoped_acquire acquired;
        if (!raised && PyErr_CheckSignals() != 0) {
          raised.emplace();  // moves the exception from the interpreter into `raised`
          thread.request_stop();
        }
      }
      lock.lock();
    }
  }
  if (raised) throw std::move(*raised);
  if (fault) std::rethrow_exception(fault);
}

/// Remembers the process in which it was created.
class OwnProcess {
 public:
  [[nodiscard]] bool is_current() const { return ::getpid() == process_; }
  /// Throws Error (usage, C63-FORKED) in another process.
  void require(const char* what) const {
    if (is_current()) return;
    throw Error(ErrorKind::usage, "C63-FORKED",
                std::string(what) + " works only in the process that made it, not after a fork");
  }

 private:
  pid_t process_ = ::getpid();
};

/// Deletes an object only in the process that created it. A forked child has a copy of the object but not its threads,
/// so a destructor that joins them would wait forever.
template <typename T>
struct DeleteInOwnProcess {
  OwnProcess process;
  void operator()(T* object) const {
    if (process.is_current()) delete object;
  }
};

/// The pointer by which a Python object owns a C++ object that has threads or locks.
template <typename T>
using OwnProcessPtr = std::unique_ptr<T, DeleteInOwnProcess<T>>;

}  // namespace c63::python
