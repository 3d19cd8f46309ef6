#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/filter_engine.h"
#include "c63/frame_source.h"
#include "io/output_file.h"
#include "io/signal_file.h"

namespace CLI {
class App;
}

namespace c63::tools {

enum class FilterCommand { none, mean, convolve, histogram, reduce, scan, shift, whiten };

/// The command line of c63filter.
struct FilterOptions {
  FilterCommand command = FilterCommand::none;
  std::string input;
  std::string output;  ///< "-": stdout
  Durability durability = Durability::process;  ///< of all files that are written
  bool keep_partial = false;                    ///< after a stop, the part replaces an older file
  SignalFormat input_format = SignalFormat::automatic;
  SignalFormat output_format = SignalFormat::automatic;
  std::optional<bool> video = {};  ///< empty: by the input's name
  SourceOptions source;
  std::string backend = "auto";
  int device = 0;
  std::string variant = "best";
  bool compare = false;

  int width = 5;       ///< for a mean
  std::string kernel;  ///< for a convolution: mean:K, gauss:S for video, taps such as 1,2,1 for a signal
  int bins = 256;
  std::string map;                  ///< a signal of 256 bins
  ReductionKind reduction = ReductionKind::sum;
  bool exclusive = false;
  std::int64_t reference = 0;  ///< frame that shifts refer to
  WhiteningSettings whitening;
  double gain = 1;                  ///< of the whitened picture, around grey
  std::string truth;                ///< the true motion of a star field, from c63gen
  std::string before;               ///< pictures of the last frame
  std::string after;
};

void add_options(CLI::App& app, FilterOptions& options);

/// Returns true if the input is video.
[[nodiscard]] bool is_video(const FilterOptions& options);

}  // namespace c63::tools
