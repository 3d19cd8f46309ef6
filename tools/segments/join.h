#pragma once

#include <string>
#include <vector>

#include "common/command_line.h"
#include "io/output_file.h"
#include "segments/segment_record.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// What c63join's command line asks for.
struct JoinOptions {
  std::vector<std::string> segments;
  std::string output;
  bool sidecar = false;  ///< writes the video's frame rate beside the output
  Durability durability = Durability::process;
};

void add_options(CLI::App& app, JoinOptions& options);

/// A segment's stream and its record.
struct SegmentFile {
  std::string stream;
  SegmentRecord record;
};

/// The streams that names like "seg*" mean: records and unfinished files among them stand for no stream of their own.
[[nodiscard]] std::vector<std::string> streams_among(const std::vector<std::string>& names);

/// Sorts the segments; throws Error (input) where they are not all segments of one video, each once: C63-JOIN-TWICE,
/// C63-JOIN-MISSING, C63-JOIN-COUNT (of different numbers of segments), C63-JOIN-INPUT, C63-JOIN-SETTINGS,
/// C63-JOIN-FRAMES.
void order_segments(std::vector<SegmentFile>& segments);

/// Does what c63join's command line asks for; returns the exit code. Throws Error.
[[nodiscard]] int run_join(const Session& session, const JoinOptions& options);

}  // namespace c63::tools
