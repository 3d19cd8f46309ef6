#pragma once

#include <optional>
#include <string>
#include <vector>

#include "c63/settings.h"
#include "common/command_line.h"
#include "compare/ab_result.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of `c63cmp ab`.
struct AbOptions {
  std::vector<std::string> inputs;
  std::optional<std::string> a;
  std::optional<std::string> b;
  std::vector<std::string> more;  ///< further sides, each as NAME=TEXT
  std::string anchor;             ///< name of the configuration that others are compared with; empty: the first
  std::string quantizers = "10,15,20,25";
  int repeat = 3;
  int warmup = 1;
  int width = 0;
  int height = 0;
  std::int64_t first_frame = 0;
  std::int64_t max_frames = 0;
  std::optional<FrameRate> rate;
  bool ssim = true;
  bool bit_exact = false;
  bool pictures = true;
  std::int64_t picture_frame = -1;  ///< -1: the program chooses
  std::string encoder;              ///< path of c63enc; empty: the one next to this program
  std::string keep;                 ///< folder to keep the coded streams in
  std::string html;
  std::string csv;
  std::string json;
  Limits limits;
  Durability durability = Durability::process;  ///< of all files that this program writes
};

void add_options(CLI::App& app, AbOptions& options);

/// Runs the comparison and prints the results. Returns the exit code 0. Throws Error, also (comparison, C63-CMP-DIFFERENT) if
/// --bitexact is not met.
[[nodiscard]] int run_ab(const Session& session, const AbOptions& options);

}  // namespace c63::tools
