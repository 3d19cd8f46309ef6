#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/frame_source.h"
#include "c63/target.h"
#include "common/outputs.h"
#include "common/report.h"
#include "files/scratch_folder.h"
#include "encode/encode_stats.h"

namespace CLI {
class App;
}
namespace spdlog {
class logger;
}

namespace c63::tools {

struct EncodeOptions;

/// The options of c63enc for a target size or quality, in place of fixed settings.
struct TargetOptions {
  std::optional<Target> target;
  std::string stats;  ///< file of --stats, with results of passes; empty: none
  std::string input;  ///< name of the input, even while its frames are read from a spool
  std::string spool;  ///< folder for a copy of input that cannot be read twice; empty: none
};

void add_target_options(CLI::App& app, TargetOptions& options);

/// The search for a target: says with which settings c63enc makes the next pass.
class TargetPasses {
 public:
  /// Begins with the passes in the statistics file, if there is one for the same encode. Throws Error (usage, input,
  /// limit).
  TargetPasses(const EncodeOptions& options, const VideoFormat& format, spdlog::logger& log);

  [[nodiscard]] CodingSettings next() const { return search_.next(); }
  /// Takes the results of a pass. Returns true if the search is over: then the best pass is the stream.
  bool take(const EncodeTotals& totals, const VideoFormat& format);
  /// Returns true if the last pass is the best so far. A pass that exceeds a size never is.
  [[nodiscard]] bool is_best() const { return search_.is_best(); }
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return search_.passes(); }
  /// Returns the error that kept the statistics file from being written, if any.
  [[nodiscard]] const std::optional<Error>& side_fault() const { return stats_.fault(); }

 private:
  void log_pass(const EncodeTotals& totals, const VideoFormat& format);

  const EncodeOptions& options_;
  spdlog::logger& log_;
  SideOutput<StatsFile> stats_;
  TargetSearch search_;
  int made_ = 0;
};

/// Returns true if the file can be opened again and read from the start.
[[nodiscard]] bool can_be_read_again(const std::string& path);

/// A copy of the input's frames in a raw file, in its own folder. Both are removed with the object.
class Spool {
 public:
  /// Reads all frames of `source` into a file below `folder`, until the end or a stop request. Throws Error if reading
  /// or writing fails.
  Spool(const std::string& folder, FrameSource& source, const std::stop_token& stop);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t frames() const { return frames_; }

 private:
  void fill(FrameSource& source, const std::stop_token& stop);

  ScratchFolder folder_;
  std::string path_;
  std::int64_t frames_ = 0;
};

}  // namespace c63::tools
