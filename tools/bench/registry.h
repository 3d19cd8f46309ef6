#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace c63::bench {

/// Adds one subcommand with its options and callback.
using AddSubcommand = void (*)(CLI::App& app);

/// All subcommands that registered themselves.
[[nodiscard]] std::vector<AddSubcommand>& subcommands();

/// A static object of this type in a subcommand's file is all it takes to be in c63bench.
struct Registration {
  explicit Registration(AddSubcommand add) { subcommands().push_back(add); }
};

/// Median and spread of repeated measurements.
struct Sample {
  double median = 0;
  double low = 0;   ///< 10th percentile
  double high = 0;  ///< 90th percentile
};

[[nodiscard]] Sample summarize(std::vector<double> values);
[[nodiscard]] nlohmann::json to_json(const Sample& sample);

/// Writes a subcommand's figures, with revision and date; "-" is stdout, an empty name writes nothing.
void write_json(const std::string& file, nlohmann::json figures);

}  // namespace c63::bench
