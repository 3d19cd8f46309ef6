#include "mpi/load_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/text.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

const RankLoad& busiest(const std::vector<RankLoad>& loads) {
  return *std::ranges::max_element(loads, {}, &RankLoad::busy_s);
}

double mean_busy_s(const std::vector<RankLoad>& loads) {
  double sum = 0;
  for (const RankLoad& load : loads) sum += load.busy_s;
  return loads.empty() ? 0 : sum / static_cast<double>(loads.size());
}

}  // namespace

ordered_json to_json(const RankLoad& load) {
  ordered_json json;
  for_each_field(load, [&](const char* key, const auto& value) { json[key] = value; });
  return json;
}

double imbalance_of(const std::vector<RankLoad>& loads) {
  const double mean = mean_busy_s(loads);
  return mean > 0 ? busiest(loads).busy_s / mean - 1 : 0;
}

std::string load_line(const std::vector<RankLoad>& loads) {
  std::set<std::string> hosts;
  for (const RankLoad& load : loads) hosts.insert(load.host);
  std::string line = counted(std::ssize(loads), "rank") + " on " + counted(std::ssize(hosts), "machine");
  if (loads.size() == 1) return line;
  const RankLoad& most = busiest(loads);
  return line + fmt::format("; imbalance {:.0f} %: rank {} ({}) was busy longest, {:.2f} s, {:.2f} s on average",
                            imbalance_of(loads) * 100, most.rank, most.host, most.busy_s, mean_busy_s(loads));
}

}  // namespace c63::tools
