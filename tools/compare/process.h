#pragma once

#include <stop_token>
#include <string>

namespace c63::tools {

/// The result of a finished command.
struct ProcessResult {
  int exit_code = 0;  ///< 128 + the signal's number if a signal ended it
  double wall_s = 0;
  double cpu_s = 0;          ///< user and system time of it and its children
  std::string error_output;  ///< the end of its standard error
};

/// Ends a command early, with everything that it has started.
struct StopTokens {
  std::stop_token stop = {};  ///< by SIGTERM
  std::stop_token drop = {};  ///< by SIGKILL
};

/// Runs `command` with /bin/sh in its own process group, and waits for it. Empty paths stand for /dev/null. Meanwhile a
/// file of `folder` holds its standard error. Throws Error (internal) if no process can be started.
[[nodiscard]] ProcessResult run_process(const std::string& command, const std::string& stdin_path,
                                        const std::string& stdout_path, const std::string& folder,
                                        const StopTokens& stops = {});

/// Returns the text quoted for /bin/sh.
[[nodiscard]] std::string shell_quoted(const std::string& text);

}  // namespace c63::tools
