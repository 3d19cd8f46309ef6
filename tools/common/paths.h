#pragma once

#include <string>
#include <vector>

namespace c63::tools {

/// A file that the command line names, and the option that names it.
struct NamedPath {
  std::string option;
  std::string path;  ///< "-" is standard input or output; empty if the option is not given
};

/// Throws Error (usage, C63-SAME-FILE) if an output is the same file as an input or another output, also through links,
/// or if two outputs go to stdout. Character devices may be named several times. Throws Error (output,
/// C63-OUTPUT-EXISTS) if an output exists and keep_existing_files(true) was called. Logs, statistics files and segment plans
/// may exist, because a run continues them.
void check_distinct_files(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

/// Says whether check_distinct_files() refuses outputs that exist (option -n). Until this is called it accepts them.
void keep_existing_files(bool keep);

/// Returns true if writing to `path` cannot be undone, because it is standard output ("-"), a pipe or a device.
[[nodiscard]] bool is_written_directly(const std::string& path);

/// Throws Error (usage, C63-SAME-FILE) if standard error goes to the output, as with `-o - 2>&1`: log lines would be
/// mixed with data. Throws Error (usage, C63-TERMINAL) if the output is a terminal.
void check_apart_from_log(const NamedPath& output);

/// Throws Error (usage, C63-OUTPUT-NAME) if the output's name has the extension of another format, such as .mp4.
/// `instead` tells the user what to do.
void check_no_container(const NamedPath& output, const std::string& instead);

}  // namespace c63::tools
