#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/bench_options.h"
#include "bench/figures.h"
#include "c63/filters.h"
#include "common/command_line.h"

// Code that `c63bench filter` and `c63bench scan` share: timing of variants, the table, the options.

namespace c63::bench {

/// One variant of one utility.
struct FilterRow {
  std::string utility;  ///< "mean of 5, double"
  std::string where;    ///< "cpu" or the GPU's name
  std::string variant;
  double bytes = 0;  ///< read and written
  Sample ms;
  double serial_ms = 0;  ///< of the serial form with the same input; 0: not timed
  double share = 0;      ///< of the copy's bytes per second; 0: memory is not its limit
  std::string note;
  std::string peer = {};  ///< the library that it calls, with its version; set by FilterTable::add()
};

/// Collects rows, prints the table as it grows, and makes JSON of it.
class FilterTable {
 public:
  FilterTable(std::string name, const FilterBenchOptions& options);

  [[nodiscard]] bool wants(const std::string& utility) const;
  /// Sets the bytes per second, read and written, of a copy at a place. Later rows of that place are compared with it.
  void set_copy(const std::string& where, double bytes_per_s, double bytes);
  /// Says which library's function the rows of a variant call: "CUB 3.0.1".
  void set_peer(const std::string& variant, const std::string& peer) { peers_[variant] = peer; }
  void add(FilterRow row);
  /// Times both forms of a utility on the CPU. `bound`: memory limits it, so it is compared with the copy.
  void add_cpu_forms(const std::string& utility, double bytes, bool bound, const std::function<void(FilterForm)>& work);
  void finish() const;

 private:
  struct Copy {
    std::string where;
    double bytes = 0;
    double bytes_per_s = 0;
  };

  std::string name_;
  FilterBenchOptions options_;
  std::vector<Copy> copies_;
  std::map<std::string, std::string> peers_;  ///< by variant
  std::vector<FilterRow> rows_;
};

/// Returns the milliseconds of `work`: once unmeasured, then `repeats` times.
[[nodiscard]] Sample time_on_cpu(int repeats, const std::function<void()>& work);
/// Returns the bytes per second, read and written, of a copy by all threads.
[[nodiscard]] double cpu_copy_rate(std::size_t bytes, int repeats);

/// Functions that add their rows to a table.
using AddFilterRows = void (*)(const FilterBenchOptions& options, FilterTable& table);
[[nodiscard]] tools::Subcommand make_filter_bench(const std::string& name, const std::string& description,
                                                  AddFilterRows on_cpu, AddFilterRows on_gpu);

// If no GPU can be used, they say why and add nothing.
void bench_filters_on_gpu(const FilterBenchOptions& options, FilterTable& table);
void bench_scans_on_gpu(const FilterBenchOptions& options, FilterTable& table);

}  // namespace c63::bench
