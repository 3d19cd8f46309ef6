#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

namespace c63::tools {

/// The result of a finished command.
struct ProcessResult {
  int exit_code = 0;  ///< 128 + the signal's number if a signal ended it
  double wall_s = 0;
  double cpu_s = 0;          ///< user and system time of the command and its children
  std::string error_output;  ///< its standard error; of a long text the beginning and the end
  bool timed_out = false;    ///< ended because of ProcessLimits::seconds
};

/// Limits for a command and each process that it starts; 0: no limit.
struct ProcessLimits {
  double seconds = 0;            ///< elapsed time; then SIGKILL
  std::uint64_t file_bytes = 0;  ///< size of each file that it writes
  int files = 0;                 ///< number of files open at the same time
  bool ends_children = false;    ///< when the command has ended, everything that it has started is killed
};

/// Requests to end a command early, with everything that it has started.
struct StopTokens {
  std::stop_token stop = {};  ///< sends SIGTERM
  std::stop_token drop = {};  ///< sends SIGKILL
};

/// Runs `command` with /bin/sh in its own process group, and waits for it. An empty path means /dev/null. While the
/// command runs, a file in `folder` collects its standard error. Throws Error (internal) if no process can be started.
[[nodiscard]] ProcessResult run_process(const std::string& command, const std::string& stdin_path,
                                        const std::string& stdout_path, const std::string& folder,
                                        const StopTokens& stops = {}, const ProcessLimits& limits = {});

/// Makes this process the parent of what loses its parent.
void adopt_orphans();
/// Kills the processes that commands or forked processes have left: those that made a group of their own, too. This process must
/// have adopted them.
void end_orphans();

/// Returns the text quoted for /bin/sh.
[[nodiscard]] std::string shell_quoted(const std::string& text);

}  // namespace c63::tools
