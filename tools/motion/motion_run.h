#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "motion/overlay.h"
#include "motion/yuview.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of c63mv.
struct MotionOptions {
  std::string input;
  std::string output;
  std::string format;             ///< empty: the summary only
  std::string overlay = "recon";  ///< recon, pred
  std::vector<std::string> types = {"mv", "sad", "bits"};
  std::int64_t frame = -1;  ///< of a picture; -1: the first frame with vectors
  std::int64_t first_frame = 0;
  std::int64_t max_frames = 0;    ///< 0: all
  int scale = 0;                  ///< 0: chosen
  std::string source;
  std::string beside;  ///< a second stream, next to the first on a page
  std::string truth;
  Limits limits;
  Durability durability = Durability::process;  ///< of all files that are written
};

void add_options(CLI::App& app, MotionOptions& options);

/// Reads the stream and writes the requested outputs. Returns the exit code. Throws Error.
[[nodiscard]] int run_motion(const Session& session, const MotionOptions& options);

}  // namespace c63::tools
