#pragma once

#include <optional>
#include <string>

#include "filter/filter_engine.h"
#include "c63/frame_source.h"
#include "files/output_file.h"
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
  std::string map;                  ///< file with a signal of 256 values: the bin of each sample value
  ReductionKind reduction = ReductionKind::sum;
  bool exclusive = false;
  std::int64_t reference = 0;  ///< number of the frame that shifts are measured against
  WhiteningSettings whitening;
  double gain = 1;                  ///< factor for the whitened picture, around grey
  std::string truth;                ///< file with the true motion of a star field, from c63gen
  std::string before;               ///< file for a picture of the last frame, before whitening
  std::string after;
};

void add_options(CLI::App& app, FilterOptions& options);

/// Returns true if the input is video. If the options do not say it, the input's name or first bytes decide.
[[nodiscard]] bool is_video(const FilterOptions& options);

}  // namespace c63::tools
