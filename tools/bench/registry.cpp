#include "bench/registry.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>

#include "c63/error.h"

namespace c63::bench {

std::vector<AddSubcommand>& subcommands() {
  static std::vector<AddSubcommand> all;
  return all;
}

Sample summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) { return values[static_cast<std::size_t>(share * (values.size() - 1) + 0.5)]; };
  return {at(0.5), at(0.1), at(0.9)};
}

nlohmann::json to_json(const Sample& sample) {
  return {{"median", sample.median}, {"p10", sample.low}, {"p90", sample.high}};
}

void write_json(const std::string& file, nlohmann::json figures) {
  if (file.empty()) return;
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  figures["date"] = date;
  figures["revision"] = C63_REVISION;
  if (file == "-") {
    std::cout << figures.dump(2) << '\n';
    return;
  }
  std::ofstream out(file);
  out << figures.dump(2) << '\n';
  if (!out.flush()) throw Error(ErrorKind::output, "C63-BENCH-JSON", "cannot write", {.file = file});
}

}  // namespace c63::bench
