#pragma once

#include <cstdint>
#include <string>

#include "common/command_line.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// What `c63cmp motion STREAM SOURCE` asks for.
struct MotionAuditOptions {
  std::string stream;
  std::string source;
  int search_range = 16;        ///< of luma
  std::int64_t max_frames = 0;  ///< 0: all
  std::int64_t shown = 10;      ///< differences that are listed
  bool exact = false;
  std::string csv;
  std::string json;
  Limits limits;
  Durability durability = Durability::process;  ///< of all files written
};

void add_options(CLI::App& app, MotionAuditOptions& options);

/// Holds every vector of a stream against exact search on the stream's own references. Returns the exit code. Throws
/// Error, with exit code 3 if --exact is asked for and a vector differs.
[[nodiscard]] int run_motion_audit(const Session& session, const MotionAuditOptions& options);

}  // namespace c63::tools
