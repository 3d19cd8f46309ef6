#pragma once

#include <memory>
#include <string>

#include "common/console.h"

namespace spdlog {
class logger;
}

namespace c63::tools {

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

}  // namespace c63::tools
