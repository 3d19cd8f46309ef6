#pragma once

#include "common/command_line.h"
#include "filter/filter_options.h"

namespace c63::tools {

/// Does what the options ask for. Returns the exit code.
[[nodiscard]] int run_filter(const Session& session, const FilterOptions& options);

// The two halves of it.

/// The engine to use and, for --compare, the serial one.
struct FilterEngines {
  std::unique_ptr<FilterEngine> chosen;
  std::unique_ptr<FilterEngine> serial;  ///< null without --compare
};

/// Sums up times and differences of the two engines.
class FilterComparison {
 public:
  void add(const FilterTiming& chosen, const FilterTiming& serial, double difference);
  /// Prints the sums. Prints nothing if nothing was compared.
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

/// The histogram's bins that the options ask for.
[[nodiscard]] BinMap bin_map_of(const FilterOptions& options);
/// Writes counts or values, one a line; to standard output if no file is named.
void write_values(const FilterOptions& options, std::span<const double> values);

}  // namespace c63::tools
