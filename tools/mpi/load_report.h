#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace c63::tools {

/// The work of one rank, and its times in seconds.
struct RankLoad {
  int rank = 0;
  std::string host;
  std::string device;
  int threads = 0;
  int segments = 0;  ///< coded
  int found = 0;     ///< segments that an earlier run had finished
  std::int64_t frames = 0;
  double busy_s = 0;     ///< time with segments; parts of it:
  double reading_s = 0;  ///< reading the source, during coding
  double coding_s = 0;   ///< coding on the device, the mean of its parts
  double storing_s = 0;  ///< writing segments
  double writing_s = 0;  ///< writing the joined stream
  double waiting_s = 0;  ///< waiting for other ranks: at the start, and when no segments were left
};

[[nodiscard]] nlohmann::ordered_json to_json(const RankLoad& load);
[[nodiscard]] RankLoad load_from(const nlohmann::ordered_json& json);

/// How much longer the busiest rank worked than the mean, as a share; 0 if all worked equally long.
[[nodiscard]] double imbalance_of(const std::vector<RankLoad>& loads);

/// "16 ranks on 2 machines; imbalance 4 %: rank 7 (node2) was busy longest, 12.3 s, 11.8 s on average"
[[nodiscard]] std::string load_line(const std::vector<RankLoad>& loads);

}  // namespace c63::tools
