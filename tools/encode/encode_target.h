#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/frame_source.h"
#include "c63/gop_cap.h"
#include "c63/target.h"
#include "common/report.h"
#include "io/scratch_folder.h"
#include "common/side_output.h"
#include "encode/encode_stats.h"

namespace CLI {
class App;
}
namespace spdlog {
class logger;
}

namespace c63::tools {

struct EncodeOptions;

/// What c63enc's command line asks for where the size or the quality of the stream is given, and not what it is coded with.
struct TargetOptions {
  std::optional<Target> target;
  bool may_drop_frames = true;  ///< sizes below those of the lowest quality are met with fewer coded frames
  std::optional<double> gop_cap;  ///< times what a bit rate gives, that a GOP may take
  std::string stats;  ///< a file that keeps what passes came to; empty: none
  std::string input;  ///< whose frames they are, wherever they are read from meanwhile
  std::string spool;  ///< a folder to keep input in that cannot be read twice; empty: none
};

void add_target_options(CLI::App& app, TargetOptions& options);
/// Throws Error (usage) for options that do not go together.
void check_target_options(const TargetOptions& options);

/// The passes towards a target, as c63enc makes them.
class TargetPasses {
 public:
  /// Takes what the statistics file knows of the same encode. Throws Error (usage, input, limit).
  TargetPasses(const EncodeOptions& options, const VideoFormat& format, spdlog::logger& log);

  [[nodiscard]] CodingSettings next() const { return capped_ ? capped_->next().settings : search_.next(); }
  /// Qualities of their own that GOPs have in that pass, by their first frames; nothing where none may.
  [[nodiscard]] const std::map<std::int64_t, GopQuality>* own_qualities() const { return capped_ ? &capped_->next().gops : nullptr; }
  /// Takes what a pass came to; true: it is the stream.
  bool take(const EncodeTotals& totals, const VideoFormat& format);
  /// Of the pass taken last: whether it may be the stream, should there be no other.
  [[nodiscard]] bool keeps_promise() const;
  /// How far it is from the target; the nearer, the better.
  [[nodiscard]] double distance() const { return capped_ ? capped_->distance() : search_.distance(); }
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return capped_ ? capped_->passes() : search_.passes(); }
  /// Why the statistics file is not written.
  [[nodiscard]] const std::optional<Error>& side_fault() const { return stats_.fault(); }

 private:
  void tell(const EncodeTotals& totals, const VideoFormat& format, std::size_t own);

  const EncodeOptions& options_;
  int own_interval_;  ///< of coded frames, without a target
  spdlog::logger& log_;
  SideOutput<StatsFile> stats_;
  TargetSearch search_;
  std::optional<CappedSearch> capped_;  ///< in its place
  int made_ = 0;
};

/// Whether a file can be opened again and read from the start.
[[nodiscard]] bool can_be_read_again(const std::string& path);

/// Frames in a raw file in a folder of its own, until this goes.
class Spool {
 public:
  /// Reads all of `source` into a file in `folder`, up to a stop request. Throws what reading and writing throw.
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
