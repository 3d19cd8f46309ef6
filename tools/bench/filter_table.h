#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "bench/bench.h"

// What `c63bench filter` and `c63bench scan` share, on CPU and GPU.

namespace c63::bench {

/// The time of one variant of a filter.
struct FilterRow {
  std::string utility;  ///< name of the filter, such as "mean of 5, double"
  std::string where;    ///< "cpu" or "gpu"
  double bytes = 0;     ///< bytes read plus bytes written
  double serial_s = 0;  ///< seconds of the CPU's serial variant on the same input; 0: not timed
  bool bound = false;   ///< memory limits the filter, so its rate is compared with that of a copy
  std::string variant = {};
  Sample seconds = {};
  std::string note = {};
};

/// The report on filters. Rows are compared with a copy on the same device, which is added first.
class FilterTable {
 public:
  FilterTable(std::string_view name, const Options& options);

  [[nodiscard]] const Options& options() const { return options_; }
  /// Returns the bytes of input of filters that memory limits.
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(options_.megabytes * 1e6) / 256 * 256; }
  [[nodiscard]] bool wants(const std::string& utility) const { return options_.wants(utility); }
  /// Sets the name of the library that `variant` calls, such as "CUB 3.0.1". Its rows show it.
  void set_peer(const std::string& variant, const std::string& peer) { peers_[variant] = peer; }
  /// Adds the copy of bytes() bytes on a device.
  void add_copy(const std::string& where, Sample seconds);
  void add(const FilterRow& row);
  void finish() const { report_.finish(); }

 private:
  Options options_;
  Report report_;
  std::map<std::string, double> copies_;      ///< bytes per second, by device
  std::map<std::string, std::string> peers_;  ///< names of libraries, by variant
};

// If no GPU can be used, these print why and add nothing.
void bench_filters_on_gpu(FilterTable& table);
void bench_scans_on_gpu(FilterTable& table);

/// Returns random whole numbers in 0..255, the same on every machine.
template <typename T>
std::vector<T> random_values(std::size_t count) {
  std::vector<T> values(count);
  std::uint32_t state = 1;
  for (T& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<T>(state >> 24);
  }
  return values;
}

inline constexpr std::array<const char*, 3> kByteContents = {"random", "video", "skewed"};
/// Returns bytes for timing histograms: random, slowly changing levels with a little noise (video), or with nine of ten bytes
/// equal (skewed).
[[nodiscard]] std::vector<std::uint8_t> bytes_of(const std::string& content, std::size_t count);

}  // namespace c63::bench
