#include "common/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "common/command_line.h"

namespace c63::tools {
namespace {

constexpr char kDailyMark = '\1';

constexpr std::string_view kFooter =
    "Log and progress go to standard error, data to standard output. The file name - means standard input or output.\n"
    "Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 comparison failed, 4 bad input, 5 limit exceeded, "
    "6 output not written, 7 out of memory, 8 GPU not usable, 129, 130 and 143 stopped by SIGHUP, SIGINT and "
    "SIGTERM.\n";

/// Returns how many terminal columns a UTF-8 text takes: one for each character.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Breaks the text into lines of at most `width` columns. All but the first begin with `indent` blanks. On the first,
/// `used` columns are already taken.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width, std::size_t used) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    bool is_first = true;
    for (std::string word; words >> word; is_first = false) {
      if (!is_first && used + 1 + columns(word) > width) {
        out += "\n" + std::string(indent, ' ');
        used = indent;
      } else if (!is_first) {
        out += ' ';
        ++used;
      }
      out += word;
      used += columns(word);
    }
    out += "\n";
    used = 0;
  }
  return out;
}

/// Returns an option's names as help shows them: "-i, --input FILE", "--ssim, --no-ssim".
std::string names_of_option(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) return option.get_name(true);  // a positional argument
  const std::string word = value_of(option).word;
  return fmt::format("{}{}{}", fmt::join(names, ", "), word.empty() ? "" : " ", word);
}

/// Returns the option's description. Adds its choices and its default, unless the description already names them.
std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  const OptionValue value = value_of(option);
  const bool tells_choices = std::ranges::all_of(value.choices, [&](const std::string& choice) { return text.find(choice) != text.npos; });
  if (!tells_choices) text += fmt::format("; one of {}", fmt::join(value.choices, ", "));
  const std::string standard = option.get_default_str();
  const bool is_told = standard.empty() || standard == "0" || standard == "false" || standard == "{}";
  return is_told || value.word.empty() ? text : text + " [" + standard + "]";
}

std::string usage(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* parent = app.get_parent(); parent != nullptr; parent = parent->get_parent()) name = parent->get_name() + " " + name;
  std::string text = "Usage: " + name + " [options]";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && !option->get_group().empty()) {
      text += " [" + option->get_name(true, false) + "]" + (option->get_expected_max() > 1 ? "..." : "");
    }
  }
  if (!app.get_subcommands(nullptr).empty()) text += " [command]";
  return text;
}

std::string option_list(const CLI::App& app, bool all, std::size_t width) {
  std::vector<std::string> groups;
  std::vector<const CLI::Option*> shown;
  // A program that marks none of its own options as daily has few of them, so --help shows them all. Unmarked options of the
  // groups General and Limits are still left out.
  const bool has_marks = std::ranges::any_of(app.get_options(), [](const CLI::Option* o) { return is_daily(*o) && group_of(*o) != "General"; });
  for (const CLI::Option* option : app.get_options()) {
    const bool is_shown = all || is_daily(*option) || (!has_marks && group_of(*option) != "General" && group_of(*option) != "Limits");
    if (option->get_group().empty() || !is_shown) continue;
    shown.push_back(option);
    if (std::ranges::find(groups, group_of(*option)) == groups.end()) groups.push_back(group_of(*option));
  }
  std::ranges::stable_partition(groups, [](const std::string& group) { return group != "General"; });
  constexpr std::size_t kColumn = 26;
  std::string text;
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const CLI::Option* option : shown) {
      if (group_of(*option) != group) continue;
      std::string line = "  " + names_of_option(*option);
      if (columns(line) + 2 > kColumn) {
        text += line + "\n";
        line.clear();
      }
      line.resize(line.size() + kColumn - columns(line), ' ');
      text += line + wrapped(description_of(*option), kColumn, width, kColumn);
    }
  }
  return text;
}

}  // namespace

std::string daily(const std::string& group) { return kDailyMark + group; }
bool is_daily(const CLI::Option& option) { return option.get_group().starts_with(kDailyMark); }
std::string group_of(const CLI::Option& option) { return option.get_group().substr(is_daily(option) ? 1 : 0); }

OptionValue value_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return {};
  // For the choices a and b, CLI11 gives "FORMAT:{a,b}". For other checks, some other text follows the colon.
  const std::string text = option.get_type_name();
  OptionValue value{text.substr(0, text.find(':')), {}};
  const auto open = text.find('{');
  if (open == std::string::npos) return value;
  std::istringstream list(text.substr(open + 1, text.find('}', open) - open - 1));
  for (std::string choice; std::getline(list, choice, ',');) value.choices.push_back(choice);
  return value;
}

std::string help_text(const CLI::App& app, const std::vector<Example>& examples, bool all, std::size_t width) {
  const bool is_program = app.get_parent() == nullptr;
  std::string text = wrapped(app.get_description(), 0, width, 0);
  if (is_program && !all && !examples.empty()) text += "\n  " + examples.front().command + "\n";
  text += "\n" + wrapped(usage(app), 7, width, 0);
  const auto commands = app.get_subcommands(nullptr);
  if (!commands.empty()) text += "\nCommands (each has its own --help):\n";
  for (const CLI::App* command : commands) {
    text += fmt::format("  {:<22}  {}", command->get_name(), wrapped(command->get_description(), 26, width, 26));
  }
  text += option_list(app, all, width) + "\n";
  if (!all) {
    const auto total = std::ranges::count_if(app.get_options(), [](const CLI::Option* o) { return !o->get_group().empty(); });
    return text + fmt::format("--help-all shows all {} options{}.\n", total, is_program ? ", more examples and the exit codes" : "");
  }
  if (!is_program) return text;
  if (!examples.empty()) text += "Examples:\n";
  for (const Example& example : examples) text += fmt::format("  {}\n      {}", example.command, wrapped(example.text, 6, width, 6));
  return text + (examples.empty() ? "" : "\n") + wrapped(std::string(kFooter), 0, width, 0);
}

std::size_t terminal_width() {
  winsize size{};
  std::size_t width = 0;
  if (const char* columns = std::getenv("COLUMNS")) width = std::strtoul(columns, nullptr, 10);
  if (width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width == 0 ? 80 : std::clamp<std::size_t>(width, 40, 120);
}

}  // namespace c63::tools
