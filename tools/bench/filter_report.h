#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/bench_options.h"
#include "bench/figures.h"
#include "c63/filters.h"
#include "common/command_line.h"

// What `c63bench filter` and `c63bench scan` share: timing one variant after the other, the table, the options.

namespace c63::bench {

/// One variant of one utility.
struct FilterRow {
  std::string utility;  ///< "mean of 5, double"
  std::string where;    ///< "cpu" or the GPU's name
  std::string variant;
  double bytes = 0;  ///< read and written
  Sample ms;
  double serial_ms = 0;  ///< of the serial form on the same input; 0: not timed
  double share = 0;      ///< of the copy's bytes per second; 0: not bound by memory
  std::string note;
  std::string peer = {};  ///< the library that it calls, with its version; set by FilterTable::add()
};

/// Collects rows, prints the table as it grows, and makes JSON of it.
class FilterTable {
 public:
  FilterTable(std::string name, const FilterBenchOptions& options);

  [[nodiscard]] bool wants(const std::string& utility) const;
  /// Bytes per second, read and written, that a copy reaches there; shares are of the last one told for that place.
  void set_copy(const std::string& where, double bytes_per_s, double bytes);
  /// Says which library's function the rows of a variant call: "CUB 3.0.1".
  void set_peer(const std::string& variant, const std::string& peer) { peers_[variant] = peer; }
  void add(FilterRow row);
  /// Times both forms of a utility on the CPU; `bound`: by memory, so that a share of the copy says something.
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

/// Milliseconds of `work`, once unmeasured and then `repeats` times.
[[nodiscard]] Sample time_on_cpu(int repeats, const std::function<void()>& work);
/// Bytes per second, read and written, of a copy by all threads.
[[nodiscard]] double cpu_copy_rate(std::size_t bytes, int repeats);

/// What adds its rows to a table.
using AddFilterRows = void (*)(const FilterBenchOptions& options, FilterTable& table);
[[nodiscard]] tools::Subcommand make_filter_bench(const std::string& name, const std::string& description,
                                                  AddFilterRows on_cpu, AddFilterRows on_gpu);

// Where no GPU can be used, they say why and add nothing.
void bench_filters_on_gpu(const FilterBenchOptions& options, FilterTable& table);
void bench_scans_on_gpu(const FilterBenchOptions& options, FilterTable& table);

}  // namespace c63::bench
