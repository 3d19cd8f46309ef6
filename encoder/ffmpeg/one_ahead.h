#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace c63 {

/// Does a piece of work on its own thread while the caller does something else, again and again: one piece at a time.
class OneAhead {
 public:
  /// Starts the thread. `work` is called once for each begin(). Throws Error (limit, C63-THREADS) if no thread can be
  /// started.
  explicit OneAhead(std::function<void()> work);
  /// Waits for work that has begun.
  ~OneAhead();
  OneAhead(const OneAhead&) = delete;
  OneAhead& operator=(const OneAhead&) = delete;

  /// Begins the work. Call it at first, and then after end().
  void begin();
  /// Waits for work that has begun, and throws its exception. Does nothing if none has begun since the last end().
  void end();

 private:
  enum class State { none, begun, done };

  void run(const std::stop_token& stop);

  std::function<void()> work_;
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable_any changed_;
  State state_ = State::none;
  std::exception_ptr fault_;
  std::jthread thread_;  ///< the last member, because it uses all others
};

}  // namespace c63
