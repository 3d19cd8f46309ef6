#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spdlog {
class logger;
}

namespace c63::tools {

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
