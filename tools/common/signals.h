#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace c63::tools {

/// From now on a closed pipe (SIGPIPE) and a file at its size limit (SIGXFSZ) are failed writes.
void ignore_write_signals();

/// Turns the first SIGINT or SIGTERM into a stop request; the second ends the process at once with 128 + its number and
/// removes output files that are not complete. Make it before any other thread starts: the signals are taken by a thread
/// of its own, so no call elsewhere is interrupted.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] std::stop_token stop_token() const { return source_.get_token(); }
  /// 0 while none came.
  [[nodiscard]] int received() const { return received_; }

 private:
  void watch();

  std::stop_source source_;
  std::atomic<int> received_ = 0;
  std::atomic<bool> done_ = false;
  std::thread watcher_;
};

}  // namespace c63::tools
