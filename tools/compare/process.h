#pragma once

#include <string>

namespace c63::tools {

/// What a finished command took.
struct ProcessResult {
  int exit_code = 0;         ///< 128 + the signal's number where one ended it
  double wall_s = 0;
  double cpu_s = 0;          ///< user and system time of it and its children
  std::string error_output;  ///< the end of what it wrote to standard error
};

/// Runs `command` with /bin/sh and waits for it. Empty paths stand for /dev/null. Its standard error is kept in a file of
/// `folder` meanwhile. Throws Error (internal) where no process can be started.
[[nodiscard]] ProcessResult run_process(const std::string& command, const std::string& stdin_path,
                                        const std::string& stdout_path, const std::string& folder);

/// Quoted for /bin/sh.
[[nodiscard]] std::string shell_quoted(const std::string& text);

/// A folder that goes away with the object, in the system's place for temporary files.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace c63::tools
