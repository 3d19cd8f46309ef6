#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace c63::tools {

/// Makes writes fail on a closed pipe or at the limit of a file's size, instead of ending the process by SIGPIPE or
/// SIGXFSZ.
void ignore_write_signals();

/// Turns the first SIGINT, SIGTERM or SIGHUP into a stop request, and the second into a drop request. The third ends
/// the process at once with 128 + its number; so does the first SIGQUIT. Unfinished files are removed (files/leftovers.h).
/// A SIGHUP that was ignored before, as by nohup, stays ignored. Create the object before any other thread starts: one
/// thread then handles the signals, and no system call of another is interrupted.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  [[nodiscard]] std::stop_token drop_token() const { return drop_.get_token(); }
  /// Returns the number of the first signal, or 0 if none came.
  [[nodiscard]] int received() const { return received_; }

 private:
  void watch();

  sigset_t watched_{};
  std::stop_source stop_;
  std::stop_source drop_;
  std::atomic<int> received_ = 0;
  std::atomic<bool> done_ = false;
  std::thread watcher_;
};

}  // namespace c63::tools
