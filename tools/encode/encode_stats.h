#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "c63/target.h"
#include "files/output_file.h"

namespace spdlog {
class logger;
}

namespace c63::tools {

struct EncodeOptions;

/// The file of --stats. It keeps the settings and results of passes, so that later encodes of the same video to another
/// target need fewer passes.
class StatsFile {
 public:
  /// Identifies the encode by `options` without the quality. Throws Error (input).
  explicit StatsFile(const EncodeOptions& options);

  /// Returns the passes in the file. Each gets the video's frame rate `frames_per_s`, which the file does not contain.
  /// If the passes are from another encode, warns and returns none. Throws Error (input, C63-STATS) if the file is not
  /// a statistics file.
  [[nodiscard]] std::vector<TargetPass> load(double frames_per_s, spdlog::logger& log) const;
  /// Writes the passes. Throws Error (output).
  void save(const std::vector<TargetPass>& passes) const;

 private:
  std::string path_;
  Durability durability_;
  nlohmann::ordered_json encode_;  ///< what the passes depend on (identity_of())
};

}  // namespace c63::tools
