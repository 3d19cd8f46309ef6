#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "c63/frame_source.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of `c63cmp ref a [b…]`.
struct MetricRunOptions {
  std::string reference;
  std::vector<std::string> others;
  int width = 0;
  int height = 0;
  std::int64_t first_frame = 0;
  std::int64_t max_frames = 0;  ///< 0: all frames
  std::optional<FrameRate> rate;
  bool ssim = true;
  bool bit_exact = false;
  std::optional<double> min_psnr;
  std::string csv;
  std::string json;
  std::string heatmap;
  Limits limits;
  Durability durability = Durability::process;  ///< of all files that this program writes
};

void add_options(CLI::App& app, MetricRunOptions& options);

/// Compares the videos and prints the results. Returns the exit code 0. Throws Error, also (comparison) if --bitexact or
/// --min-psnr is not met.
[[nodiscard]] int run_metrics(const Session& session, const MetricRunOptions& options);

}  // namespace c63::tools
