#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace c63::tools {

/// Standard error, shared by log lines and the progress line, so that they do not overwrite each other.
class Console {
 public:
  /// Writes to `fd`, which the caller keeps open and closes.
  explicit Console(int fd = 2);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  [[nodiscard]] bool terminal() const { return terminal_; }

  /// Writes one whole line. Removes the progress line first and restores it afterwards.
  void line(std::string_view text);

  /// Shows a line that the next call of status() overwrites. Does nothing unless `fd` is a terminal.
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
