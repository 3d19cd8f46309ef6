#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace c63::tools {

/// What one rank did, and how long, in seconds.
struct RankLoad {
  int rank = 0;
  std::string host;
  std::string device;
  int threads = 0;
  int segments = 0;  ///< coded
  int found = 0;     ///< segments that an earlier run had finished
  std::int64_t frames = 0;
  double busy_s = 0;     ///< with segments, of which:
  double reading_s = 0;  ///< the source was read; beside coding
  double coding_s = 0;   ///< the device coded, the mean of its parts
  double storing_s = 0;  ///< segments were written
  double writing_s = 0;  ///< the joined stream was
  double waiting_s = 0;  ///< for other ranks: at the start, and when no segments were left
};

[[nodiscard]] nlohmann::ordered_json to_json(const RankLoad& load);
[[nodiscard]] RankLoad load_from(const nlohmann::ordered_json& json);

/// By how much the rank that was busy longest was busy longer than the mean; 0 where all were equally long.
[[nodiscard]] double imbalance_of(const std::vector<RankLoad>& loads);

/// "16 ranks on 2 machines; imbalance 4 %: rank 7 (node2) was busy longest, 12.3 s, 11.8 s on average"
[[nodiscard]] std::string load_line(const std::vector<RankLoad>& loads);

}  // namespace c63::tools
