#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "c63/target.h"
#include "io/output_file.h"

namespace spdlog {
class logger;
}

namespace c63::tools {

struct EncodeOptions;

/// The file of --stats: what the passes of one encode came to, for later targets of the same encode.
class StatsFile {
 public:
  /// The encode is that of `options`, whatever its quality. Throws Error (input).
  explicit StatsFile(const EncodeOptions& options);

  /// The passes in the file, at this frame rate. Nothing, with a warning, if they are of another encode. Throws Error (input,
  /// C63-STATS) for a file that is none of these.
  [[nodiscard]] std::vector<TargetPass> load(double frames_per_s, spdlog::logger& log) const;
  /// Of passes with the same settings, the last is kept. Throws Error (output).
  void save(const std::vector<TargetPass>& passes) const;

 private:
  std::string path_;
  Durability durability_;
  nlohmann::ordered_json encode_;  ///< what identifies it
};

}  // namespace c63::tools
