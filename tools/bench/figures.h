#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace c63::bench {

/// Median and 10th and 90th percentile of repeated measurements.
struct Sample {
  double median = 0;
  double low = 0;   ///< 10th percentile
  double high = 0;  ///< 90th percentile
};

[[nodiscard]] Sample summarize(std::vector<double> values);
[[nodiscard]] nlohmann::ordered_json to_json(const Sample& sample);

/// Returns the results with revision and date.
[[nodiscard]] nlohmann::ordered_json dated(nlohmann::ordered_json figures);

/// Writes the results of a benchmark, with revision and date. "-" is standard output; an empty name writes nothing.
/// Throws Error (output).
void write_figures(const std::string& file, nlohmann::ordered_json figures);
/// Writes the results so far, so that a later failure does not lose them. Writes nothing if `file` is "-".
void write_figures_so_far(const std::string& file, const nlohmann::ordered_json& figures);

}  // namespace c63::bench
