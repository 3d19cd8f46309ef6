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
#include "common/log.h"
#include "common/progress.h"
#include "common/signals.h"
#include "files/output_file.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// Returns what --version prints.
[[nodiscard]] std::string version_text(const std::string& program);

/// The options that every program has.
struct CommonSettings {
  bool verbose = false;
  bool quiet = false;
  LogSettings log;
  ProgressMode progress = ProgressMode::automatic;
  int threads = 0;  ///< 0: one for each CPU that this process may use
};

/// What a program's run function gets: settings, logs and stop requests, after the command line was parsed.
struct Session {
  std::string program;
  CommonSettings common;
  std::shared_ptr<Console> console;
  std::shared_ptr<spdlog::logger> log;      ///< "program: text" on standard error
  std::shared_ptr<spdlog::logger> summary;  ///< the same, but lines do not begin with the program's name
  std::stop_token stop;                     ///< requested by the first SIGINT, SIGTERM or SIGHUP: finish what was read
  std::stop_token drop;                     ///< requested by the second: discard what is not finished

  [[nodiscard]] std::unique_ptr<Progress> progress(std::optional<std::int64_t> total, double video_fps) const;
};

/// A subcommand with its own options. It also accepts the options that every program has.
struct Subcommand {
  std::string name;
  std::string description;
  std::function<void(CLI::App&)> add_options;
  std::function<int(Session&)> run;  ///< returns the exit code
};

/// Returns a subcommand that accepts anything after its name and throws not_built_with_cuda().
[[nodiscard]] Subcommand subcommand_without_cuda(std::string name);

/// Returns a subcommand that gets all that follows its name, options too.
[[nodiscard]] Subcommand subcommand_of_words(std::string name, std::string description, void (*run)(std::vector<std::string>));

/// An example for the help: a command line, and what it does.
struct Example {
  std::string command;
  std::string text;
};

/// A command-line program: its name, its options, and its run function.
struct Program {
  std::string name;
  std::string description;
  std::function<void(CLI::App&)> add_options = {};
  std::function<int(Session&)> run = {};  ///< returns the exit code; empty: the user must name a subcommand
  std::vector<Subcommand> subcommands = {};
  std::vector<Example> examples = {};  ///< for --help
};

/// Runs a program: parses the command line and the file of --config, and sets up log, progress and signals. Every
/// exception becomes one line on standard error and an exit code, which is returned. It is 128 + the signal's number if
/// a signal ended the run.
[[nodiscard]] int run_main(int argc, char** argv, const Program& program);

// The parts of run_main() that tests call.

/// Adds the options that every program has.
void add_common_options(CLI::App& app, CommonSettings& common, const std::string& program);
/// Parses the command line. If it only asks for a text, such as --help, prints the text and returns an exit code. Otherwise
/// returns nothing. Throws Error: usage, or another kind if the file of --config cannot be read.
[[nodiscard]] std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv, const std::vector<Example>& examples = {});

/// Writes the whole text to standard output. Throws Error (output).
void write_stdout(std::string_view text);

/// Adds --max-pixels and --max-memory.
void add_limit_options(CLI::App& app, Limits& limits);

/// Adds --sync, -y and -n; and --keep-partial, unless the pointer is null.
void add_output_options(CLI::App& app, Durability& durability, bool* keep_partial = nullptr);

/// Adds --simd. While parsing, Error (usage) is thrown if this machine lacks the chosen instruction set.
void add_simd_option(CLI::App& app, std::optional<SimdLevel>& simd);

}  // namespace c63::tools
