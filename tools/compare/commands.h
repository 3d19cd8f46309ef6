#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "c63/frame_source.h"
#include "c63/settings.h"
#include "common/command_line.h"

// The commands of c63cmp. Each run returns the exit code.

namespace CLI {
class App;
}

namespace c63::tools {

/// Options that comparisons of videos and of encoders share.
struct VideoOptions {
  int width = 0;
  int height = 0;
  std::int64_t first_frame = 0;
  std::int64_t max_frames = 0;  ///< 0: all frames
  std::optional<FrameRate> rate;
  bool ssim = true;
  bool bit_exact = false;
  std::string csv;
  std::string json;
  Limits limits;
  Durability durability = Durability::process;  ///< of all files that this program writes
};

/// The command line of `c63cmp ref a [b…]`.
struct MetricRunOptions : VideoOptions {
  std::string reference;
  std::vector<std::string> others;
  std::optional<double> min_psnr;
  std::string heatmap;
};

void add_options(CLI::App& app, MetricRunOptions& options);

/// Compares the videos and prints the results. Returns the exit code 0. Throws Error, also (comparison) if --bitexact or
/// --min-psnr is not met.
[[nodiscard]] int run_metrics(const Session& session, const MetricRunOptions& options);

/// The command line of `c63cmp ab`.
struct AbOptions : VideoOptions {
  std::vector<std::string> inputs;
  std::optional<std::string> a;
  std::optional<std::string> b;
  std::vector<std::string> more;  ///< further sides, each as NAME=TEXT
  std::string anchor;             ///< name of the configuration that others are compared with; empty: the first
  std::string quantizers = "10,15,20,25";
  int repeat = 3;
  int warmup = 1;
  bool pictures = true;
  std::int64_t picture_frame = -1;  ///< -1: the program chooses
  std::string encoder;              ///< path of c63enc; empty: the one next to this program
  std::string keep;                 ///< folder to keep the coded streams in
  std::string html;
};

void add_options(CLI::App& app, AbOptions& options);

struct AbResult;

/// Runs the sides of a comparison in turns, and fills the result's inputs, points and, if wanted, frames. After a
/// stop request it has only finished rounds, and is marked as stopped.
void run_sides(const Session& session, const AbOptions& options, AbResult& result, bool with_frames);

/// Runs the comparison and prints the results. Returns the exit code 0. Throws Error, also (comparison, C63-CMP-DIFFERENT) if
/// --bitexact is not met.
[[nodiscard]] int run_ab(const Session& session, const AbOptions& options);

/// The command line of `c63cmp motion STREAM SOURCE`.
struct MotionAuditOptions {
  std::string stream;
  std::string source;
  int search_range = 16;        ///< range in luma, in samples
  std::int64_t max_frames = 0;  ///< 0: all frames
  std::int64_t shown = 10;      ///< most differences to list
  bool exact = false;
  std::string csv;
  std::string json;
  Limits limits;
  Durability durability = Durability::process;  ///< of all files that this program writes
};

void add_options(CLI::App& app, MotionAuditOptions& options);

/// Compares each vector of a stream with that of exact search in the stream's own references. Returns the exit code.
/// Throws Error, with exit code 3 if --exact is given and a vector differs.
[[nodiscard]] int run_motion_audit(const Session& session, const MotionAuditOptions& options);

}  // namespace c63::tools
