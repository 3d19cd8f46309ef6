#include "common/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/logger.h>
#include <fcntl.h>
#include <spdlog/sinks/sink.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "c63/media.h"
#include "c63/settings.h"
#include "c63/version.h"
#include "common/errors.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/values.h"
#include "files/write_descriptor.h"
#include "io/descriptor.h"
#include "files/leftovers.h"

namespace c63::tools {

// Made by CMake.
extern const char* const kCudaDescription;
extern const char* const kFfmpegDescription;

std::string version_text(const std::string& program) {
  std::vector<std::string> levels;
  for (const SimdLevel level : available_simd_levels()) levels.emplace_back(name(level));
  return fmt::format("{} {}\nrevision {}\ncompiler {}\nCUDA {}\nSIMD {} (of {})\nFFmpeg {}", program, version(),
                     revision(), compiler(), kCudaDescription, levels.back(), fmt::join(levels, ", "),
                     kFfmpegDescription);
}

namespace {

enum class Reported { nothing, in_part, all };
std::atomic<Reported> reported = Reported::nothing;

/// Calls `write` unless an error has been reported already. When memory runs out, several threads may fail at the same
/// time, but only the first reports it. The others return when the report is finished, or after a second.
template <typename Write>
void report_once(const Write& write) {
  if (auto nothing = Reported::nothing; !reported.compare_exchange_strong(nothing, Reported::in_part)) {
    for (int i = 0; i < 100 && reported != Reported::all; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return;
  }
  try {
    write();
  } catch (...) {
    reported = Reported::nothing;
    throw;
  }
  reported = Reported::all;
}

void write_line(const std::string& program, Console& console, spdlog::logger* log, const std::string& line) {
  console.clear_status();
  if (log != nullptr) {
    // An error's line is shown whatever --log-level says: it goes straight to the console, and through the log only to
    // a log file.
    for (const auto& sink : log->sinks()) {
      if (sink != log->sinks().front()) {
        sink->log(spdlog::details::log_msg(program, spdlog::level::err, line));
        sink->flush();
      }
    }
  }
  console.line(program + ": " + line);
}

int report(const std::string& program, Console& console, spdlog::logger* log, const Error& error) {
  report_once([&] { write_line(program, console, log, error_line(error)); });
  return exit_code(error.kind());
}

/// Reports that memory ran out, without allocating any.
int report_without_memory() noexcept {
  report_once([] {
    std::array<char, 256> line;
    std::snprintf(line.data(), line.size(), "%s: out of memory [C63-MEMORY]; use a machine with more memory\n",
                  program_invocation_short_name);
    std::uint64_t written = 0;
    static_cast<void>(write_all(STDERR_FILENO, bytes_of(line.data()), written));
  });
  return exit_code(ErrorKind::memory);
}

/// Reports the exception that is being handled. Returns the exit code.
int report_caught(const std::string& program, Console& console, spdlog::logger* log) {
  const auto fail = [&](const Error& error) { return report(program, console, log, error); };
  try {
    throw;
  } catch (const Error& error) {
    return fail(error);
  } catch (const std::bad_alloc&) {
    return fail(Error(ErrorKind::memory, "C63-MEMORY", "out of memory"));
  } catch (const std::system_error& e) {
    const bool no_thread = e.code() == std::errc::resource_unavailable_try_again;
    return fail(system_fault(ErrorKind::internal, "C63-INTERNAL", no_thread ? "cannot start a thread" : "internal error",
                             e.code().value()));
  } catch (const std::exception& e) {
    return fail(Error(ErrorKind::internal, "C63-INTERNAL", std::string("internal error: ") + e.what()));
  } catch (...) {
    return fail(Error(ErrorKind::internal, "C63-INTERNAL", "internal error of unknown kind"));
  }
}

/// Ends the process after an exception that nothing catches.
[[noreturn]] void end_by_exception() noexcept {
  int code = exit_code(ErrorKind::internal);
  try {
    // An exception that has left a noexcept function is in flight, but cannot be read here. It is reported as lack of
    // memory: library functions that promise not to throw still throw if memory runs out.
    const bool is_caught = std::current_exception() != nullptr;
    if (!is_caught && std::uncaught_exceptions() > 0) throw std::bad_alloc();
    Console console;
    code = is_caught ? report_caught(program_invocation_short_name, console, nullptr)
                     : report(program_invocation_short_name, console, nullptr, Error(ErrorKind::internal, "C63-INTERNAL", "internal error"));
  } catch (...) {
    code = report_without_memory();
  }
  exit_without_leftovers(code);
}

/// The handler is set before main(), because constructors of static objects run before main(), and nothing can catch
/// their exceptions.
[[maybe_unused]] const std::terminate_handler kDefaultHandler = std::set_terminate(end_by_exception);

/// Returns how many characters must be changed, added or removed to turn one word into the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// Returns "; did you mean --keyint?" for a mistyped option. Empty if no option is similar.
std::string suggestion(const CLI::App& app, const std::string& word) {
  const std::string typed = word.substr(0, word.find('='));
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, typed.size() / 3) + 1;
  const auto compare = [&](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const std::size_t d = distance(typed, "--" + name);
        if (d < least) nearest = "--" + name, least = d;
      }
    }
  };
  compare(app);
  for (const CLI::App* sub : app.get_subcommands()) compare(*sub);
  return nearest.empty() || typed.size() < 4 ? "" : "; did you mean " + nearest + "?";
}

/// Returns an error text for the words of a command line that no option or argument took: first unknown options, then
/// other words.
std::string unexpected_text(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> options;
  std::vector<std::string> others;
  for (const std::string& word : words) (word.size() > 1 && word[0] == '-' ? options : others).push_back(word);
  const auto list = [](const std::string& what, const std::vector<std::string>& of) {
    return of.empty() ? "" : fmt::format("{}{} {}", what, of.size() == 1 ? "" : "s", fmt::join(of, ", "));
  };
  return list("unknown option", options) + (options.empty() || others.empty() ? "" : "; ") +
         list("unexpected argument", others) + (options.size() == 1 && others.size() < 2 ? suggestion(app, options[0]) : "");
}

/// Writes the help with CLI11's groups, but breaks long lines.
class Help : public CLI::Formatter {
 public:
  Help() {
    column_width(kColumn);
    label("SUBCOMMANDS", "Commands");
  }

  std::string make_option_name(const CLI::Option* option, bool is_argument) const override {
    if (is_argument) return option->get_single_name();  // also of one that --help does not list
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return fmt::format("{}", fmt::join(names, ", "));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 || option->get_type_name().empty() ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string standard = option->get_default_str();
    const bool is_told = option->get_type_size() == 0 || standard.empty() || standard == "0";
    return broken(option->get_description() + (is_told ? "" : " [" + standard + "]"));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_name(), broken(command->get_description()), kColumn);
    return out.str();
  }

 private:
  static constexpr std::size_t kColumn = 26;

  /// Returns the columns of the terminal on standard output, from 40 to 120; 80 if there is none.
  static std::size_t terminal_width() {
    winsize size{};
    std::size_t width = 0;
    if (const char* columns = std::getenv("COLUMNS")) width = std::strtoul(columns, nullptr, 10);
    if (width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    return width == 0 ? 80 : std::clamp<std::size_t>(width, 40, 120);
  }
  static std::string broken(const std::string& text) {
    const std::size_t width = terminal_width() - kColumn;
    std::string out;
    std::size_t used = 0;
    std::istringstream words(text);
    for (std::string word; words >> word; used += word.size()) {
      if (!out.empty()) out += used + 1 + word.size() > width ? '\n' : ' ';
      used = out.ends_with('\n') ? 0 : used + 1;
      out += word;
    }
    return out;
  }
};

void add_help(CLI::App& app) {
  app.set_help_flag("--help", "Show the most used options and exit")->group("General");  // -h is the height
  app.set_help_all_flag("--help-all", "Show all options and exit")->group("General");
}

constexpr const char* kFooter =
    "Log and progress go to standard error, data to standard output. The file name - means standard input or output.\n"
    "Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 comparison failed, 4 bad input, 5 limit exceeded, 6 output\n"
    "not written, 7 out of memory, 8 GPU not usable, 129, 130 and 143 stopped by SIGHUP, SIGINT and SIGTERM.";

/// Returns the text of --help, or that of --help-all if `all` is true. --help shows only the options that most users need.
/// If a program has none of its own, --help shows all options.
std::string help_text(CLI::App& app, const std::vector<Example>& examples, bool all) {
  const auto is_daily = [](const CLI::Option* o) { return !o->get_group().ends_with(kMore); };
  const auto is_general = [](const CLI::Option* o) { return o->get_group().starts_with("General") || o->get_group().starts_with("Limits"); };
  const bool has_marks = std::ranges::any_of(app.get_options(), [&](const CLI::Option* o) { return is_daily(o) && !is_general(o); });
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const std::string group = option->get_group();
    const bool is_shown = all || is_daily(option) || (!has_marks && !is_general(option));
    option->group(is_shown ? group.substr(0, group.find(kMore)) : "");
  }
  std::string footer;
  for (const Example& example : examples) {
    if (all || footer.empty()) footer += fmt::format("  {}\n      {}\n", example.command, example.text);
  }
  footer += std::string("\n") + (all ? kFooter : "--help-all shows all options, more examples and the exit codes.");
  if (app.get_parent() == nullptr) app.footer("Examples:\n" + footer);
  app.formatter(std::make_shared<Help>());
  return app.help(app.get_parent() == nullptr ? "" : app.get_parent()->get_name());
}

/// Reads the file of --config, and remembers which line sets an option.
class ConfigFile : public CLI::ConfigTOML {
 public:
  explicit ConfigFile(const CLI::App& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    std::vector<CLI::ConfigItem> all;
    std::string section;  // its heading
    std::string line;
    input.exceptions(std::ios_base::badbit);
    try {
      for (int number = 1; std::getline(input, line); ++number) {
        if (number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
        const bool is_heading = CLI::detail::trim_copy(line).starts_with('[');
        if (is_heading) section = line + "\n";
        std::istringstream one(is_heading ? section : section + line);
        for (const CLI::ConfigItem& item : CLI::ConfigTOML::from_config(one)) {
          take(item, number);
          all.push_back(item);
        }
      }
    } catch (const std::ios_base::failure&) {  // CLI11 would treat it as the end of the file
      throw Error(ErrorKind::input, "C63-CONFIG-READ", "cannot read the file of --config");
    }
    return all;
  }

  /// Returns the error of a value that was refused, with the line if it comes from the file.
  [[nodiscard]] Error refused(const std::string& what) const {
    for (const auto& [option, line] : lines_) {
      const auto begins = [&](const std::string& dashes, const std::string& name) { return what.starts_with(dashes + name + ":"); };
      if (std::ranges::any_of(option->get_snames(), [&](const std::string& name) { return begins("-", name); }) ||
          std::ranges::any_of(option->get_lnames(), [&](const std::string& name) { return begins("--", name); })) {
        return error(line, what);
      }
    }
    return {ErrorKind::usage, "C63-USAGE", what};
  }

 private:
  [[nodiscard]] Error error(int line, const std::string& what) const {
    return {ErrorKind::usage, "C63-USAGE", fmt::format("line {}: {}", line, what), {.file = app_.get_config_ptr()->as<std::string>()}};
  }

  /// Remembers the line of an item. Throws Error (usage) if the program has no such option.
  void take(const CLI::ConfigItem& item, int line) const {
    const CLI::App* command = &app_;
    for (const std::string& parent : item.parents) {
      const auto found = command->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == parent; });
      if (found.empty()) throw error(line, "there is no option " + parent);
      command = found.front();
    }
    if (item.name == "++" || item.name == "--") return;  // a section begins or ends
    const CLI::Option* option = nullptr;
    for (const char* dashes : {"--", "-", ""}) {
      if (option == nullptr) option = command->get_option_no_throw(dashes + item.name);
    }
    if (option == nullptr) throw error(line, "there is no option " + item.fullname());
    if (!option->get_configurable()) throw error(line, item.name + " can be used only on the command line");
    if (option->empty()) lines_[option] = line;  // otherwise the command line's value counts
  }

  const CLI::App& app_;
  mutable std::map<const CLI::Option*, int> lines_;  ///< of the options that the file sets
};

/// Throws the reason why the file of --config cannot be opened. CLI11 says that it is missing, also if there is no memory or
/// file descriptor to open it.
[[noreturn]] void fail_to_open(const std::string& path, const CLI::FileError& error) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::close(descriptor);
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) throw Error(ErrorKind::memory, "C63-MEMORY", "out of memory");
  }
  if (errno == EMFILE || errno == ENFILE) throw system_fault(ErrorKind::limit, "C63-OPEN-FILES", "cannot open", errno, {.file = path});
  throw Error(ErrorKind::usage, "C63-USAGE", error.what(), {.file = path});
}

void add_subcommands(CLI::App& app, const Program& program) {
  for (const Subcommand& subcommand : program.subcommands) {
    CLI::App* added = app.add_subcommand(subcommand.name, subcommand.description);
    added->fallthrough();
    subcommand.add_options(*added);
  }
}

/// Returns the function of the chosen subcommand, or of the program itself. Throws Error (usage) if a subcommand is
/// required and none was named.
const std::function<int(Session&)>& chosen_run(const CLI::App& app, const Program& program) {
  const auto chosen = std::ranges::find_if(program.subcommands,
                                           [&](const Subcommand& subcommand) { return app.got_subcommand(subcommand.name); });
  if (chosen != program.subcommands.end()) return chosen->run;
  if (program.run) return program.run;
  std::vector<std::string_view> names;
  for (const Subcommand& subcommand : program.subcommands) names.push_back(subcommand.name);
  throw Error(ErrorKind::usage, "C63-USAGE",
              fmt::format("no command was given: name one of {}", fmt::join(names, ", ")));
}

int run_program(int argc, char** argv, const Program& program, Console& console, Session& session,
                std::shared_ptr<spdlog::logger>& log) {
  CLI::App app(program.description, program.name);
  add_help(app);
  if (program.add_options) program.add_options(app);
  add_subcommands(app, program);
  for (CLI::App* command : app.get_subcommands(nullptr)) add_help(*command);
  add_common_options(app, session.common, program.name);
  if (const auto code = parse_command_line(app, argc, argv, program.examples)) return *code;
  const auto& run = chosen_run(app, program);
  if (session.common.verbose) session.common.log.level = "debug";
  if (session.common.quiet) {
    session.common.log.level = "error";
    session.common.progress = ProgressMode::none;
  }
  const Signals signals;
  session.log = log = make_log(program.name, session.console, session.common.log);
  session.summary = make_plain_log(*log);
  session.stop = signals.stop_token();
  session.drop = signals.drop_token();
  int code = kExitDone;
  try {
    code = run(session);
  } catch (const Error& error) {
    // If a signal stopped the run, input that ends early is not an error.
    if (signals.received() == 0 || error.kind() != ErrorKind::input) throw;
    log->info("stopped: {}", error_line(error));
  }
  console.clear_status();
  finish_log(*log);
  return code == kExitDone && signals.received() != 0 ? 128 + signals.received() : code;
}

}  // namespace

void add_common_options(CLI::App& app, CommonSettings& common, const std::string& program) {
  static constexpr std::array<std::pair<ProgressMode, std::string_view>, 5> kModes = {{{ProgressMode::automatic, "auto"},
                                                                                      {ProgressMode::tty, "tty"},
                                                                                      {ProgressMode::plain, "plain"},
                                                                                      {ProgressMode::json, "json"},
                                                                                      {ProgressMode::none, "none"}}};
  const std::string more = "General, more";
  app.set_version_flag(
         "--version", [program] { return version_text(program); }, "Print version and build and exit")
      ->group(more);
  add_options(app, "General",
              {{"-v,--verbose", &common.verbose, "", "Print more messages (same as --log-level debug)", {.daily = true}},
               {"--quiet", &common.quiet, "", "Print errors only", {.daily = true}},
               {"--log-level", &common.log.level, "LEVEL", "Least important messages to show on standard error",
                {.choices = {"trace", "debug", "info", "warn", "error", "off"}}},
               {"--log-file", &common.log.file, "FILE", "Append the log, with time stamps, to this file"},
               {"--progress", choice(common.progress, kModes), "MODE", "How to show progress"},
               {"--threads", &common.threads, "N", std::string(option_info("threads").help), {.least = 0, .most = 4096}}});
  app.set_config("--config", "",
                 "Read options from a file with lines like qp=30; options on the command line override them")
      ->type_name("FILE")
      ->group(more);
  app.config_formatter(std::make_shared<ConfigFile>(app));
  app.allow_config_extras(CLI::config_extras_mode::error);
}

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv, const std::vector<Example>& examples) {
  const auto show_help = [&](bool all) {
    CLI::App* asked = &app;
    while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
    write_stdout(help_text(*asked, examples, all));
    return kExitDone;
  };
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return show_help(false);
  } catch (const CLI::CallForAllHelp&) {
    return show_help(true);
  } catch (const CLI::CallForVersion& e) {
    write_stdout(std::string(e.what()) + "\n");
    return kExitDone;
  } catch (const CLI::ExtrasError&) {
    throw Error(ErrorKind::usage, "C63-USAGE", unexpected_text(app, app.remaining(true)));
  } catch (const CLI::FileError& e) {
    fail_to_open(app.get_config_ptr()->as<std::string>(), e);
  } catch (const CLI::ParseError& e) {
    if (argc > 1 && std::string_view(argv[argc - 1]) == "-h" && app.get_option_no_throw("-h") != nullptr) {
      throw Error(ErrorKind::usage, "C63-USAGE", "-h is the height, as in -h 288; for help, use --help");
    }
    throw dynamic_cast<const ConfigFile&>(*app.get_config_formatter()).refused(e.what());
  }
}

Subcommand subcommand_without_cuda(std::string name) {
  return {.name = std::move(name),
          .description = "Needs CUDA: " + not_built_with_cuda().message(),
          .add_options = [](CLI::App& app) { app.fallthrough(false)->allow_extras(); },
          .run = [](Session&) -> int { throw not_built_with_cuda(); }};
}

Subcommand subcommand_of_words(std::string name, std::string description, void (*run)(std::vector<std::string>)) {
  const auto app = std::make_shared<CLI::App*>();
  return {.name = std::move(name),
          .description = std::move(description),
          .add_options = [app](CLI::App& added) { *app = added.fallthrough(false)->prefix_command(); },
          .run = [app, run](Session&) {
            run((*app)->remaining());
            return kExitDone;
          }};
}

std::unique_ptr<Progress> Session::progress(std::optional<std::int64_t> total, double video_fps) const {
  return std::make_unique<Progress>(common.progress, console, total, video_fps);
}

int run_main(int argc, char** argv, const Program& program) {
  std::shared_ptr<Console> console;
  std::shared_ptr<spdlog::logger> log;
  try {
    const bool filled = fill_standard_descriptors();
    ignore_write_signals();
    console = std::make_shared<Console>();
    keep_media_messages();
    if (!filled) {
      throw Error(ErrorKind::output, "C63-STANDARD-STREAMS",
                  "standard input, output or error is closed, and /dev/null cannot be opened in its place");
    }
    Session session;
    session.program = program.name;
    session.console = console;
    return run_program(argc, argv, program, *console, session, log);
  } catch (...) {
    try {
      if (console) return report_caught(program.name, *console, log.get());
    } catch (...) {
      // There is no memory for the error line either.
    }
    return report_without_memory();
  }
}

void write_stdout(std::string_view text) {
  std::uint64_t written = 0;
  const int code = write_all(STDOUT_FILENO, bytes_of(text), written);
  if (code == 0) return;
  throw system_fault(ErrorKind::output, "C63-WRITE", "cannot write to standard output", code, {.file = "stdout"});
}

void add_limit_options(CLI::App& app, Limits& limits) {
  const auto limit_memory = [&limits](const std::string& text) {
    const auto bytes = count_from(text);
    if (!bytes || *bytes < 1) return false;
    limits.max_memory = *bytes;
    limit_media_allocations(*bytes);
    return true;
  };
  const auto limit_pixels = [&limits](const std::string& text) {
    const auto pixels = count_from(text);
    if (pixels && *pixels > 0) limits.max_pixels = *pixels;
    return pixels && *pixels > 0;
  };
  add_options(app, "Limits",
              {{"max-pixels", TakeText(limit_pixels), "", "", {.standard = std::to_string(limits.max_pixels)}},
               {"max-memory", TakeText(limit_memory), "", "", {.standard = bytes_text(limits.max_memory)}}});
}

void add_output_options(CLI::App& app, Durability& durability, bool* keep_partial) {
  add_options(app, "Input and output",
              {{"-y,--overwrite,!-n,!--no-overwrite", [](bool overwrites) { keep_existing_files(!overwrites); }, "",
                "Overwrite existing files (the default); -n refuses to overwrite them"},
               {"--sync",
                [&durability](bool syncs) { durability = syncs ? Durability::power_loss : Durability::process; }, "",
                "Before the program ends, make sure that all written files are safe on the disk even if power is lost"}});
  if (keep_partial == nullptr) return;
  add_options(app, "Input and output",
              {{"--keep-partial", keep_partial, "",
                "If a signal stops the program, let the incomplete output replace an older file of its name. Without this "
                "option, the older file stays, and the incomplete one is named NAME.partial.EXT"}});
}

void add_simd_option(CLI::App& app, std::optional<SimdLevel>& simd) {
  const auto take = [&simd](const std::string& text) {
    const auto level = enum_from<SimdLevel>(text);
    const auto available = available_simd_levels();
    if (level && std::ranges::find(available, *level) == available.end()) {
      std::vector<std::string_view> names;
      for (const SimdLevel usable : available) names.push_back(name(usable));
      throw Error(ErrorKind::usage, "C63-USAGE", fmt::format("--simd: this machine has no {}; it has {}", text, fmt::join(names, ", ")));
    }
    simd = level;
    return level.has_value();
  };
  std::vector<std::string> names;
  for (const SimdLevel level : values_of<SimdLevel>()) names.emplace_back(name(level));
  add_options(app, "", {{"simd", TakeText(take), "", "", {.choices = names}}});
}

}  // namespace c63::tools
