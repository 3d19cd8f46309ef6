#include "bench/figures.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "c63/version.h"
#include "common/report.h"

namespace c63::bench {

Sample summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) { return values[static_cast<std::size_t>(share * (values.size() - 1) + 0.5)]; };
  return {at(0.5), at(0.1), at(0.9)};
}

nlohmann::ordered_json to_json(const Sample& sample) {
  return {{"median", sample.median}, {"p10", sample.low}, {"p90", sample.high}};
}

nlohmann::ordered_json dated(nlohmann::ordered_json figures) {
  figures["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  figures["revision"] = revision();
  return figures;
}

void write_figures(const std::string& file, nlohmann::ordered_json figures) {
  if (!file.empty()) tools::write_json(file, dated(std::move(figures)));
}

void write_figures_so_far(const std::string& file, const nlohmann::ordered_json& figures) {
  if (file != "-") write_figures(file, figures);
}

}  // namespace c63::bench
