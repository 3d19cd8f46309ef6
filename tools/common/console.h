#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace c63::tools {

/// Standard error, shared by log lines and the progress line so that neither tears the other.
class Console {
 public:
  /// `fd` stays the caller's.
  explicit Console(int fd = 2);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  [[nodiscard]] bool terminal() const { return terminal_; }

  /// One whole line. A progress line that stands is taken away first and put back after.
  void line(std::string_view text);

  /// The line that the next status() overwrites; only on a terminal, nothing elsewhere.
  void status(std::string_view text);
  void clear_status();

 private:
  void write(std::string_view text) const;

  std::mutex mutex_;
  int fd_;
  bool terminal_;
  std::string status_;
};

}  // namespace c63::tools
