#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/frame_source.h"
#include "common/command_line.h"
#include "files/output_file.h"
#include "filter/filter_engine.h"
#include "filter/signal_file.h"

namespace CLI {
class App;
}

namespace c63::tools {

enum class FilterCommand { none, mean, convolve, histogram, reduce, scan, shift, whiten };

/// The command line of c63filter.
struct FilterOptions {
  FilterCommand command = FilterCommand::none;
  std::string input;
  std::string output;  ///< "-": standard output
  Durability durability = Durability::process;  ///< of all files that this program writes
  bool keep_partial = false;                    ///< after a stop, the written part replaces an older file
  SignalFormat input_format = SignalFormat::automatic;
  SignalFormat output_format = SignalFormat::automatic;
  std::optional<bool> video = {};  ///< empty: decided by the input's name
  SourceOptions source;
  std::string backend = "auto";
  std::optional<int> device;  ///< if given, this GPU must be used; empty: the first GPU, if one is used
  std::string variant = "best";
  bool compare = false;

  int width = 5;       ///< window of the mean, in samples
  std::string kernel;  ///< of a convolution: mean:K; gauss:S (video only); taps such as 1,2,1 (signals only)
  int bins = 256;
  std::string map;  ///< file with a signal of 256 values: the bin of each sample value
  ReductionKind reduction = ReductionKind::sum;
  bool exclusive = false;
  std::int64_t reference = 0;  ///< number of the frame that shifts are measured against
  WhiteningSettings whitening;
  double gain = 1;     ///< factor for the whitened picture, around grey
  std::string truth;   ///< file with the true motion of a star field, from c63gen
  std::string before;  ///< file for a picture of the last frame, before whitening
  std::string after;
};

/// Adds the options of all commands.
void add_options(CLI::App& app, FilterOptions& options);
/// Returns the commands, each with its own options.
[[nodiscard]] std::vector<Subcommand> filter_commands(FilterOptions& options);

/// Does what the options say. Returns the exit code. Throws Error.
[[nodiscard]] int run_filter(const Session& session, const FilterOptions& options);

// What the two parts of run_filter(), for signals and for video, share.

/// The largest difference of two results of a filter.
template <typename Value>
double largest_difference(const std::vector<Value>& a, const std::vector<Value>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}
inline double largest_difference(double a, double b) { return std::abs(a - b); }
inline double largest_difference(const std::optional<FrameShift>& a, const std::optional<FrameShift>& b) {
  if (a && b) return std::max(std::abs(a->dx - b->dx), std::abs(a->dy - b->dy));
  return a.has_value() == b.has_value() ? 0 : INFINITY;
}

/// The engine that the user chose and, with --compare, the serial one to compare it with.
class FilterEngines {
 public:
  FilterEngines(const Session& session, const FilterOptions& options);

  /// Calls `filter(engine, result)`, which returns a FilterTiming, for the chosen engine. With --compare also runs the serial
  /// one, on a copy of `result`, and notes times and the difference.
  template <typename Result, typename Filter>
  void run(Result& result, const Filter& filter) {
    if (!serial_) return static_cast<void>(filter(*chosen_, result));
    Result expected = result;
    chosen_time_ += filter(*chosen_, result);
    serial_time_ += filter(*serial_, expected);
    difference_ = std::max(difference_, largest_difference(result, expected));
    compared_ = true;
  }
  [[nodiscard]] std::string description() const { return chosen_->description(); }
  /// Logs times and difference. Does nothing if nothing was compared.
  void report(const Session& session) const;

 private:
  std::unique_ptr<FilterEngine> chosen_;
  std::unique_ptr<FilterEngine> serial_;  ///< null without --compare
  bool compared_ = false;
  FilterTiming chosen_time_;
  FilterTiming serial_time_;
  double difference_ = 0;
};

void filter_signal(const Session& session, const FilterOptions& options, FilterEngines& engines);
void filter_video(const Session& session, const FilterOptions& options, FilterEngines& engines);

/// Throws Error (limit, C63-MAX-MEMORY) if a filter needs more than --max-memory.
void check_filter_memory(const FilterOptions& options, std::uint64_t bytes);

/// Returns which bin of the histogram each sample value is counted in, as the options say.
[[nodiscard]] BinMap bin_map_of(const FilterOptions& options);
/// Writes counts or values, one per line, to the output, or to standard output if none is named.
void write_values(const FilterOptions& options, std::span<const double> values);

}  // namespace c63::tools
