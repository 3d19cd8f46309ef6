#include "mpi/load_report.h"
#include "common/counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

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

ordered_json to_json(const RankLoad& l) {
  return {{"rank", l.rank},          {"host", l.host},           {"device", l.device},
          {"threads", l.threads},    {"segments", l.segments},   {"segments_found", l.found},
          {"frames", l.frames},      {"busy_s", l.busy_s},       {"reading_s", l.reading_s},
          {"coding_s", l.coding_s},  {"storing_s", l.storing_s}, {"writing_s", l.writing_s},
          {"waiting_s", l.waiting_s}};
}

RankLoad load_from(const ordered_json& json) {
  RankLoad l;
  json.at("rank").get_to(l.rank);
  json.at("host").get_to(l.host);
  json.at("device").get_to(l.device);
  json.at("threads").get_to(l.threads);
  json.at("segments").get_to(l.segments);
  json.at("segments_found").get_to(l.found);
  json.at("frames").get_to(l.frames);
  json.at("busy_s").get_to(l.busy_s);
  json.at("reading_s").get_to(l.reading_s);
  json.at("coding_s").get_to(l.coding_s);
  json.at("storing_s").get_to(l.storing_s);
  json.at("writing_s").get_to(l.writing_s);
  json.at("waiting_s").get_to(l.waiting_s);
  return l;
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
