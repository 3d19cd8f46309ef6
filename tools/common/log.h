#pragma once

#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spdlog {
class logger;
}

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

/// The file of --log-file. Lines are appended, with time stamps. Unlike spdlog's own file class it remembers a failed
/// write.
class LogFile : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// Opens the file. Throws Error (output, C63-LOG-FILE).
  explicit LogFile(const std::string& path);
  ~LogFile() override;

  /// Writes what is still buffered and closes the file. Later lines are dropped. Throws Error (output, C63-LOG-FILE) if
  /// anything could not be written.
  void finish();

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override;

 private:
  void write_held() noexcept;

  std::string path_;
  int descriptor_ = -1;
  std::string held_;
  std::uint64_t written_ = 0;
  int fault_ = 0;  ///< errno of the first failed write; 0: none
};

struct LogSettings {
  std::string level = "info";  ///< lowest level on standard error: trace, debug, info, warn, error or off
  std::string file;            ///< gets lines of level debug and above, with time stamps; empty: no file
};

/// Creates a program's log. It writes to standard error through the console, and to a file if one is named. Lines read
/// "program: text" and "program: warning: text". Throws Error (output) if the file cannot be opened.
[[nodiscard]] std::shared_ptr<spdlog::logger> make_log(const std::string& program,
                                                       const std::shared_ptr<Console>& console,
                                                       const LogSettings& settings);

/// Creates a log with the same destinations as `log`. Its lines do not begin with the program's name. It is for the
/// summary at the end of a run.
[[nodiscard]] std::shared_ptr<spdlog::logger> make_plain_log(const spdlog::logger& log);

/// Writes and closes the file of --log-file, if there is one. Throws Error (output, C63-LOG-FILE) if a line could not
/// be written.
void finish_log(const spdlog::logger& log);

/// Messages about the input and the machine. They are held back until begin(), so that an error before the work starts
/// is the only line. No message is printed twice. Any thread may call.
class Notices {
 public:
  explicit Notices(std::shared_ptr<spdlog::logger> log) : log_(std::move(log)) {}

  void info(const std::string& line) { add(line, false); }
  void warn(const std::string& line) { add(line, true); }
  /// Prints the held messages. From now on, messages are printed at once.
  void begin();
  /// Returns the first held warning; empty if there is none.
  [[nodiscard]] std::string held_warning();

 private:
  void add(const std::string& line, bool warning);
  void say(const std::string& line, bool warning) const;

  std::shared_ptr<spdlog::logger> log_;
  std::mutex mutex_;
  bool begun_ = false;
  std::set<std::string> known_;
  std::vector<std::pair<std::string, bool>> held_;
};

}  // namespace c63::tools
