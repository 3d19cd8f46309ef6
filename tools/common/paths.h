#pragma once

#include <string>
#include <vector>

namespace c63::tools {

/// A file that the command line names, and the option that names it.
struct NamedPath {
  std::string option;
  std::string path;  ///< "-" is stdin or stdout; empty if the option is not given
};

/// Throws Error (usage, C63-SAME-FILE) if an output is also an input or another output, through whatever links, or if
/// two outputs go to stdout. Devices may be named more than once.
void check_distinct_files(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

/// Returns true if what is written under a name cannot be taken back: a pipe, a device.
[[nodiscard]] bool is_written_directly(const std::string& path);

/// Throws the same if standard error goes to the output, as with `-o - 2>&1`: log lines would be mixed into it. Throws
/// Error (usage, C63-TERMINAL) if the output is a terminal.
void check_apart_from_log(const NamedPath& output);

/// Throws Error (usage, C63-OUTPUT-NAME) if the name of an output belongs to another format. `instead` says what to do.
void check_no_container(const NamedPath& output, const std::string& instead);

}  // namespace c63::tools
