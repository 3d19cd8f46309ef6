#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "files/output_file.h"
#include "segments/segment_record.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of c63join.
struct JoinOptions {
  std::vector<std::string> segments;
  std::string output;
  Durability durability = Durability::process;
};

void add_options(CLI::App& app, JoinOptions& options);

/// A segment's stream and its record.
struct SegmentFile {
  std::string stream;
  SegmentRecord record;
};

/// Returns the names of streams among names that a shell made from "seg*". Records and unfinished files are left out.
/// If the names contain a record but not its stream, the stream's name is returned, too.
[[nodiscard]] std::vector<std::string> streams_among(const std::vector<std::string>& names);

/// Sorts the segments. Throws Error (input) unless they are all segments of one video, each once: C63-JOIN-TWICE,
/// C63-JOIN-MISSING, C63-JOIN-COUNT (from cuts into different numbers of segments), C63-JOIN-INPUT, C63-JOIN-SETTINGS,
/// C63-JOIN-FRAMES.
void order_segments(std::vector<SegmentFile>& segments);

/// Writes the streams of the segments one after another, and checks that each is the one that its record describes. Stops
/// early if `is_stopped` returns true. Throws Error (input, output).
void append_segments(OutputFile& output, const std::vector<SegmentFile>& segments, const std::function<bool()>& is_stopped);

/// Does what the options of c63join say. Returns the exit code. Throws Error.
[[nodiscard]] int run_join(const Session& session, const JoinOptions& options);

}  // namespace c63::tools
