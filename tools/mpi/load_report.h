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
  int segments = 0;  ///< segments that it coded
  int segments_found = 0;  ///< segments that an earlier run had finished
  std::int64_t frames = 0;
  double busy_s = 0;     ///< time spent on segments; it includes the next three
  double reading_s = 0;  ///< reading the source while coding
  double coding_s = 0;   ///< coding on the device: mean over the device's parts
  double storing_s = 0;  ///< writing segments
  double waiting_s = 0;  ///< waiting for other ranks when no segments are left
};

/// Calls visit(key, field) for every field. The keys are those of the JSON report.
template <typename Load, typename Visit>
void for_each_field(Load& load, const Visit& visit) {
  visit("rank", load.rank);
  visit("host", load.host);
  visit("device", load.device);
  visit("threads", load.threads);
  visit("segments", load.segments);
  visit("segments_found", load.segments_found);
  visit("frames", load.frames);
  visit("busy_s", load.busy_s);
  visit("reading_s", load.reading_s);
  visit("coding_s", load.coding_s);
  visit("storing_s", load.storing_s);
  visit("waiting_s", load.waiting_s);
}

[[nodiscard]] nlohmann::ordered_json to_json(const RankLoad& load);

/// Returns the busiest rank's time divided by the mean of all ranks, minus 1. 0: all worked equally long.
[[nodiscard]] double imbalance_of(const std::vector<RankLoad>& loads);

/// Returns a line such as "16 ranks on 2 machines; imbalance 4 %: rank 7 (node2) was busy longest, 12.3 s, 11.8 s on
/// average".
[[nodiscard]] std::string load_line(const std::vector<RankLoad>& loads);

}  // namespace c63::tools
