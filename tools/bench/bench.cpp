#include "bench/bench.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "c63/version.h"
#include "codec/search_window.h"
#include "common/report.h"

namespace c63::bench {

bool Options::wants(std::string_view name) const {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& part) { return name.find(part) != std::string_view::npos; });
}

Sample summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](double share) { return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)]; };
  return {at(0.5), at(0.1), at(0.9)};
}

void to_json(Json& json, const Sample& sample) {
  json = {{"median", sample.median}, {"p10", sample.low}, {"p90", sample.high}};
}

std::function<double()> timed(std::function<void()> work) {
  return [work = std::move(work)] {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
}

std::vector<Sample> measure(std::span<const Case> cases, int rounds) {
  std::vector<std::vector<double>> seconds(cases.size());
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (round > cases[i].most_rounds) continue;
      const double once = cases[i].run();
      if (round > 0) seconds[i].push_back(once);
    }
  }
  std::vector<Sample> samples;
  for (std::vector<double>& of_case : seconds) samples.push_back(summarize(std::move(of_case)));
  return samples;
}

Sample measure(const std::function<double()>& run, int rounds) {
  const Case one{.labels = {}, .run = run};
  return measure({&one, 1}, rounds).front();
}

Report::Report(std::string_view bench, const Options& options, std::vector<Column> columns)
    : file_(options.json),
      columns_(std::move(columns)),
      json_{{"bench", bench},
            {"revision", revision()},
            {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
            {"results", Json::array()}} {}

void Report::print_titles() const {
  std::string line;
  for (const Column& c : columns_) line += fmt::format(fmt::runtime(c.width < 0 ? "{:<{}} " : "{:>{}} "), c.title, std::abs(c.width));
  std::puts(line.c_str());
}

void Report::add(Json row) {
  print(row);
  rows().push_back(std::move(row));
  save();
}

void Report::print(const Json& row) const {
  std::string line;
  for (const Column& c : columns_) {
    const Json::json_pointer member("/" + c.member);
    const Json value = row.contains(member) ? row.at(member) : Json();
    std::string text;
    if (value.is_string()) {
      text = value.get<std::string>();
    } else if (value.is_boolean()) {
      text = value.get<bool>() ? "yes" : "NO";
    } else if (value.is_number()) {
      text = fmt::format("{:.{}f}{}", value.get<double>() * c.factor, c.digits, c.unit);
    }
    line += fmt::format(fmt::runtime(c.width < 0 ? "{:<{}} " : "{:>{}} "), text, std::abs(c.width));
  }
  std::puts(line.c_str());
  std::fflush(stdout);
}

void Report::save() const {
  if (!file_.empty() && file_ != "-") tools::write_json(file_, json_);
}

void Report::finish() const {
  if (!file_.empty()) tools::write_json(file_, json_);
}

double count_candidates(int width, int height, int range) {
  double count = 0;
  for (int row = 0; row < height / kBlockSize; ++row) {
    for (int column = 0; column < width / kBlockSize; ++column) {
      const SearchWindow w = search_window(column, row, width, height, range);
      if (!w.empty()) count += static_cast<double>(w.right - w.left) * (w.bottom - w.top);
    }
  }
  return count;
}

}  // namespace c63::bench
