#pragma once

#include <memory>
#include <string>

#include "common/console.h"

namespace spdlog {
class logger;
}

namespace c63::tools {

struct LogSettings {
  std::string level = "info";  ///< level of standard error: trace, debug, info, warn, error, off
  std::string file;            ///< empty: no file; otherwise gets everything from debug up, with time stamps, appended
};

/// Sets where a program's messages go: standard error through the console, and a file if one is named. Lines read
/// "program: text" and "program: warning: text". Throws Error (output) if the file cannot be opened.
[[nodiscard]] std::shared_ptr<spdlog::logger> make_log(const std::string& program,
                                                       const std::shared_ptr<Console>& console,
                                                       const LogSettings& settings);

/// The same destinations, for lines without the program's name, such as the last line of a summary.
[[nodiscard]] std::shared_ptr<spdlog::logger> make_plain_log(const spdlog::logger& log);

/// Completes the file of --log-file, if there is one. Throws Error (output, C63-LOG-FILE) if part of it is missing.
void finish_log(const spdlog::logger& log);

}  // namespace c63::tools
