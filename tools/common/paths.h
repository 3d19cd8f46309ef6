#pragma once

#include <string>
#include <vector>

namespace c63::tools {

/// A file that the command line names, and the option that names it.
struct NamedPath {
  std::string option;
  std::string path;  ///< "-" is stdin or stdout; empty where the option is not given
};

/// Throws Error (usage, C63-SAME-FILE) if an output is also an input or another output, through whatever links, or if
/// two outputs go to stdout. Devices and pipes may be named more than once.
void check_distinct_files(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

}  // namespace c63::tools
