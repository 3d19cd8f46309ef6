#pragma once

#include <exception>
#include <functional>
#include <semaphore>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "c63/error.h"

namespace c63 {

/// Does a piece of work on its own thread while the caller does something else, again and again: one piece at a time.
class OneAhead {
 public:
  /// Starts the thread. `work` is called once for each begin(). Throws Error (limit, C63-THREADS) if no thread can be
  /// started.
  explicit OneAhead(std::function<void()> work) : work_(std::move(work)) {
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) {
        for (begun_.acquire(); !stop.stop_requested(); begun_.acquire()) {
          try {
            work_();
          } catch (...) {
            fault_ = std::current_exception();
          }
          done_.release();
        }
      });
    } catch (const std::system_error& error) {
      throw Error(ErrorKind::limit, "C63-THREADS", "cannot start a thread: " + error.code().message());
    }
  }
  /// Waits for work that has begun.
  ~OneAhead() {
    if (is_begun_) done_.acquire();
    thread_.request_stop();
    begun_.release();
  }
  OneAhead(const OneAhead&) = delete;
  OneAhead& operator=(const OneAhead&) = delete;

  /// Begins the work. Call it at first, and then after end().
  void begin() {
    is_begun_ = true;
    begun_.release();
  }

  /// Waits for work that has begun, and throws its exception. Does nothing if none has begun since the last end().
  void end() {
    if (!std::exchange(is_begun_, false)) return;
    done_.acquire();
    if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
  }

 private:
  std::function<void()> work_;
  bool is_begun_ = false;       ///< by begin(), and not yet ended; only for the caller
  std::exception_ptr fault_;    ///< of the work; written before done_, read after it
  std::binary_semaphore begun_{0};
  std::binary_semaphore done_{0};
  std::jthread thread_;  ///< the last member, because it uses all others
};

}  // namespace c63
