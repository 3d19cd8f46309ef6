#pragma once

#include "common/command_line.h"
#include "filter/filter_options.h"

namespace c63::tools {

/// Does what the options say. Returns the exit code. Throws Error.
[[nodiscard]] int run_filter(const Session& session, const FilterOptions& options);

// What the two parts of run_filter(), for signals and for video, share.

/// The engine that the user chose and, with --compare, the serial one to compare it with.
struct FilterEngines {
  std::unique_ptr<FilterEngine> chosen;
  std::unique_ptr<FilterEngine> serial;  ///< null without --compare
};

/// Sums the times of both engines, and keeps the largest difference of their results.
class FilterComparison {
 public:
  void add(const FilterTiming& chosen, const FilterTiming& serial, double difference);
  /// Logs times and difference. Does nothing if nothing was compared.
  void report(const Session& session, const FilterEngines& engines) const;

 private:
  bool any_ = false;
  FilterTiming chosen_;
  FilterTiming serial_;
  double difference_ = 0;
};

void filter_signal(const Session& session, const FilterOptions& options, FilterEngines& engines,
                   FilterComparison& comparison);
void filter_video(const Session& session, const FilterOptions& options, FilterEngines& engines,
                  FilterComparison& comparison);

/// Throws Error (limit, C63-MAX-MEMORY) if a filter needs more than --max-memory.
void check_filter_memory(const FilterOptions& options, std::uint64_t bytes);

/// Returns which bin of the histogram each sample value is counted in, as the options say.
[[nodiscard]] BinMap bin_map_of(const FilterOptions& options);
/// Writes counts or values, one per line, to the output, or to standard output if none is named.
void write_values(const FilterOptions& options, std::span<const double> values);

}  // namespace c63::tools
