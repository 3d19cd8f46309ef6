#pragma once

#include <cstdint>
#include <string>

#include "common/command_line.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of `c63cmp motion STREAM SOURCE`.
struct MotionAuditOptions {
  std::string stream;
  std::string source;
  int search_range = 16;        ///< range in luma, in samples
  std::int64_t max_frames = 0;  ///< 0: all frames
  std::int64_t shown = 10;      ///< most differences to list
  bool exact = false;
  std::string csv;
  std::string json;
  Limits limits;
  Durability durability = Durability::process;  ///< of all files that this program writes
};

void add_options(CLI::App& app, MotionAuditOptions& options);

/// Compares each vector of a stream with that of exact search in the stream's own references. Returns the exit code.
/// Throws Error, with exit code 3 if --exact is given and a vector differs.
[[nodiscard]] int run_motion_audit(const Session& session, const MotionAuditOptions& options);

}  // namespace c63::tools
