#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
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
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error& error) {
      throw Error(ErrorKind::limit, "C63-THREADS", "cannot start a thread: " + error.code().message());
    }
  }
  /// Waits for work that has begun.
  ~OneAhead() = default;
  OneAhead(const OneAhead&) = delete;
  OneAhead& operator=(const OneAhead&) = delete;

  /// Begins the work. Call it at first, and then after end().
  void begin() {
    const std::lock_guard lock(mutex_);
    state_ = State::begun;
    changed_.notify_all();
  }

  /// Waits for work that has begun, and throws its exception. Does nothing if none has begun since the last end().
  void end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_ != State::begun; });
    state_ = State::none;
    if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
  }

 private:
  enum class State { none, begun, done };

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return state_ == State::begun; })) {
      lock.unlock();
      std::exception_ptr fault;
      try {
        work_();
      } catch (...) {
        fault = std::current_exception();
      }
      lock.lock();
      fault_ = fault;
      state_ = State::done;
      changed_.notify_all();
    }
  }

  std::function<void()> work_;
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable_any changed_;
  State state_ = State::none;
  std::exception_ptr fault_;
  std::jthread thread_;  ///< the last member, because it uses all others
};

}  // namespace c63
