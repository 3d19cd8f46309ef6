#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/registry.h"

// What `c63bench filter` and `c63bench scan` share: timing one variant after the other, and the table.

namespace c63::bench {

struct FilterBenchOptions {
  double megabytes = 256;   ///< of input, for what is bound by memory
  int repeats = 15;
  std::string json;
  std::vector<std::string> only;  ///< utilities; empty: all
  int device = 0;
  bool cpu = true;
  bool cuda = true;
};

/// Adds the options to a subcommand.
void add_options(CLI::App& app, FilterBenchOptions& options);

/// One variant of one utility.
struct FilterRow {
  std::string utility;  ///< "mean of 5, double"
  std::string where;    ///< "cpu" or the GPU's name
  std::string variant;
  double bytes = 0;     ///< read and written
  Sample ms;
  double serial_ms = 0;  ///< of the serial form on the same input; 0: not timed
  double share = 0;      ///< of the copy's bytes per second; 0: not bound by memory
  std::string note;
};

/// Collects rows, prints the table as it grows, and makes JSON of it.
class FilterTable {
 public:
  FilterTable(std::string name, const FilterBenchOptions& options);

  [[nodiscard]] bool wants(const std::string& utility) const;
  /// Bytes per second, read and written, that a copy reaches there; shares are of the last one told for that place.
  void set_copy(const std::string& where, double bytes_per_s, double bytes);
  void add(FilterRow row);
  void finish() const;

 private:
  std::string name_;
  FilterBenchOptions options_;
  nlohmann::json copies_ = nlohmann::json::array();
  std::vector<std::pair<std::string, double>> copy_;
  std::vector<FilterRow> rows_;
};

/// Milliseconds of `work`, once unmeasured and then `repeats` times.
[[nodiscard]] Sample time_on_cpu(int repeats, const std::function<void()>& work);
/// Bytes per second, read and written, of a copy by all threads.
[[nodiscard]] double cpu_copy_rate(std::size_t bytes, int repeats);

// In a build with CUDA; add their rows where a GPU can be used, and a note where not.
void bench_filters_on_gpu(const FilterBenchOptions& options, FilterTable& table);
void bench_scans_on_gpu(const FilterBenchOptions& options, FilterTable& table);

}  // namespace c63::bench
