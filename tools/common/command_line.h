#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "c63/settings.h"
#include "common/console.h"
#include "common/log.h"
#include "common/progress.h"
#include "common/signals.h"
#include "io/output_file.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The options that every program has.
struct CommonSettings {
  bool verbose = false;
  bool quiet = false;
  LogSettings log;
  ProgressMode progress = ProgressMode::automatic;
  int threads = 0;  ///< 0: as many as the machine has
};

/// What a program works with once its command line is understood.
struct Session {
  std::string program;
  CommonSettings common;
  std::shared_ptr<Console> console;
  std::shared_ptr<spdlog::logger> log;      ///< "program: text" on standard error
  std::shared_ptr<spdlog::logger> summary;  ///< the same without the name
  std::stop_token stop;                     ///< asked for by the first SIGINT, SIGTERM or SIGHUP
  std::stop_token drop;                     ///< asked for by the second

  [[nodiscard]] std::unique_ptr<Progress> progress(std::optional<std::int64_t> total, double video_fps) const;
};

/// A part of a program with options of its own. It takes those that every program has, too.
struct Subcommand {
  std::string name;
  std::string description;
  std::function<void(CLI::App&)> add_options;
  std::function<int(Session&)> run;  ///< returns the exit code
};

/// A command line worth knowing, and what it does.
struct Example {
  std::string command;
  std::string text;
};

/// A command-line program: what it is called, which options it has, and what it does.
struct Program {
  std::string name;
  std::string description;
  std::function<void(CLI::App&)> add_options = {};
  std::function<int(Session&)> run = {};  ///< returns the exit code; empty: a subcommand has to be named
  std::vector<Subcommand> subcommands = {};
  std::vector<Example> examples = {};  ///< for --help and the manual page
};

/// Runs a program: parses the command line and --config, sets up log, progress and signals, turns whatever is thrown
/// into one line on standard error and an exit code. A run that a signal ended returns 128 + its number.
[[nodiscard]] int run_main(int argc, char** argv, const Program& program);

// What run_main() parses with, for tests.

/// Adds the options that every program has.
void add_common_options(CLI::App& app, CommonSettings& common, const std::string& program);
/// Parses. Returns an exit code if the command line asked for a text only, which is printed. Throws Error (usage).
[[nodiscard]] std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv, const std::vector<Example>& examples = {});

/// The whole option tree of a program and its examples as JSON, from which man pages and shell completions are made.
[[nodiscard]] std::string describe_options(const CLI::App& app, const std::vector<Example>& examples = {});

/// What --version prints.
[[nodiscard]] std::string version_text(const std::string& program);

/// Writes to standard output, all of it. Throws Error (output).
void write_stdout(std::string_view text);

/// The names of instruction sets, as --simd lists them.
[[nodiscard]] std::vector<std::string> simd_level_names();

/// Adds --max-pixels and --max-memory.
void add_limit_options(CLI::App& app, Limits& limits);

/// Adds --sync, -y and -n.
void add_sync_option(CLI::App& app, Durability& durability);

/// Adds --keep-partial.
void add_keep_partial_option(CLI::App& app, bool& keep_partial);

/// Adds --simd. Throws (while parsing) for a level that this machine does not have.
void add_simd_option(CLI::App& app, std::optional<SimdLevel>& simd);

}  // namespace c63::tools
