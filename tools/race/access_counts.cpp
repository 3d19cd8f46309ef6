#include "race/access_counts.h"

#include <algorithm>
#include <array>

namespace c63::race {
namespace {

std::int64_t count_different(std::vector<std::uintptr_t>& values) {
  std::ranges::sort(values);
  return std::unique(values.begin(), values.end()) - values.begin();
}

}  // namespace

void LineCounts::add(const LineCounts& other) {
  accesses += other.accesses;
  lanes += other.lanes;
  bytes += other.bytes;
  steps += other.steps;
  least += other.least;
}

LineCounts AccessCounts::counts_of(const Group& group, bool is_shared) {
  LineCounts c{.is_shared = is_shared, .accesses = 1, .lanes = std::ssize(group.lanes), .bytes = std::ssize(group.lanes) * group.bytes};
  const std::uintptr_t unit = is_shared ? 4 : 32;
  std::vector<std::uintptr_t> bytes;
  // Shared memory serves 128 bytes a turn: with 8 or 16 bytes a lane, half or a quarter of the warp.
  const int together = is_shared ? std::max(kWarp * 4 / static_cast<int>(std::max(group.bytes, 4U)), 1) : kWarp;
  for (int first = 0; first < kWarp; first += together) {
    std::vector<std::uintptr_t> units;
    std::array<std::vector<std::uintptr_t>, 32> banks;
    for (const auto& [lane, place] : group.lanes) {
      if (lane < first || lane >= first + together) continue;
      for (std::uintptr_t at = place; at < place + group.bytes; ++at) bytes.push_back(at);
      for (std::uintptr_t at = place / unit; at <= (place + group.bytes - 1) / unit; ++at) {
        units.push_back(at);
        banks[at % 32].push_back(at);
      }
    }
    std::int64_t turns = 0;
    for (auto& words : banks) turns = std::max(turns, count_different(words));
    c.steps += is_shared ? turns : count_different(units);
  }
  const std::int64_t width = is_shared ? 128 : 32;
  c.least = std::min(c.steps, (count_different(bytes) + width - 1) / width);
  return c;
}

void AccessCounts::add(int thread, std::uintptr_t place, std::size_t bytes, bool is_shared, std::uint32_t from) {
  std::uint32_t& site = site_of_[2 * std::size_t{from} + (is_shared ? 1 : 0)];
  if (site == 0) {
    site = static_cast<std::uint32_t>(sites_.size());
    sites_.push_back({.from = from, .counts = {.is_shared = is_shared}});
  }
  const auto index = static_cast<std::size_t>(thread);
  if (index >= traces_.size()) traces_.resize(index + 1);
  traces_[index].push_back({site, static_cast<std::uint32_t>(bytes), place});
}

void AccessCounts::end_interval() {
  const std::span<const std::vector<Access>> all = traces_;
  for (std::size_t first = 0; first < all.size(); first += kWarp) add_warp(all.subspan(first, std::min<std::size_t>(kWarp, all.size() - first)));
  for (std::vector<Access>& trace : traces_) trace.clear();
}

void AccessCounts::add_warp(std::span<const std::vector<Access>> lanes) {
  std::vector<std::size_t> turns(sites_.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    std::ranges::fill(turns, 0);
    for (const Access& a : lanes[lane]) {
      std::vector<Group>& groups = sites_[a.site].groups;
      const std::size_t turn = turns[a.site]++;
      if (turn >= groups.size()) groups.resize(turn + 1);
      groups[turn].bytes = a.bytes;
      groups[turn].lanes.emplace_back(static_cast<int>(lane), a.place);
    }
  }
  for (Site& site : sites_) {
    for (const Group& group : site.groups) site.counts.add(counts_of(group, site.counts.is_shared));
    site.groups.clear();
  }
}

std::vector<std::pair<std::uint32_t, LineCounts>> AccessCounts::by_place() const {
  std::vector<std::pair<std::uint32_t, LineCounts>> all;
  for (const Site& site : sites_) {
    if (site.counts.accesses > 0) all.emplace_back(site.from, site.counts);
  }
  return all;
}

}  // namespace c63::race
