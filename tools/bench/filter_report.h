#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/bench_options.h"
#include "bench/figures.h"
#include "c63/filters.h"
#include "common/command_line.h"

// Code that `c63bench filter` and `c63bench scan` share: timing variants, the table, the options.

namespace c63::bench {

/// The times of one variant of a filter.
struct FilterRow {
  std::string utility;  ///< name of the filter, such as "mean of 5, double"
  std::string where;    ///< "cpu" or "gpu"
  std::string variant;
  double bytes = 0;  ///< bytes read plus bytes written
  Sample ms;
  double serial_ms = 0;  ///< time of the CPU's serial variant on the same input; 0: not timed
  double share = 0;      ///< 0: memory does not limit this filter; else FilterTable::add() sets the share of a copy's rate
  std::string note;
  std::string peer = {};  ///< library that the variant calls, with its version; set by FilterTable::add()
};

/// Collects rows. Prints each at once. finish() writes all to the file of --json.
class FilterTable {
 public:
  FilterTable(std::string name, const FilterBenchOptions& options);

  [[nodiscard]] bool wants(const std::string& utility) const;
  /// Sets the rate of a copy on one device: bytes per second, read plus written. `where` names the device as in
  /// FilterRow. Later rows of that device are compared with this rate.
  void set_copy(const std::string& where, double bytes_per_s, double bytes);
  /// Sets the name of the library that `variant` measures, such as "CUB 3.0.1". Its rows show it.
  void set_peer(const std::string& variant, const std::string& peer) { peers_[variant] = peer; }
  void add(FilterRow row);
  /// Times the serial and the fast variant of a filter on the CPU. `bound`: memory limits the filter, so its rate is
  /// compared with the rate of a copy.
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
  std::map<std::string, std::string> peers_;  ///< names of libraries, by variant
  std::vector<FilterRow> rows_;
};

/// Returns the milliseconds that one call of `work` takes. Calls it once unmeasured, then measures `repeats` calls.
[[nodiscard]] Sample time_on_cpu(int repeats, const std::function<void()>& work);
/// Returns the rate of a copy by all threads: bytes per second, read plus written.
[[nodiscard]] double cpu_copy_rate(std::size_t bytes, int repeats);

/// A function that measures and adds its rows to a table.
using AddFilterRows = void (*)(const FilterBenchOptions& options, FilterTable& table);
[[nodiscard]] tools::Subcommand make_filter_bench(const std::string& name, const std::string& description,
                                                  AddFilterRows on_cpu, AddFilterRows on_gpu);

// If no GPU can be used, these print why and add nothing.
void bench_filters_on_gpu(const FilterBenchOptions& options, FilterTable& table);
void bench_scans_on_gpu(const FilterBenchOptions& options, FilterTable& table);

}  // namespace c63::bench
