#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace c63::tools {

struct Example;

/// Returns the group's name with a mark for options of daily use. --help-all shows all options, --help only the marked
/// ones. If a program marks none of its own options, --help shows them all.
[[nodiscard]] std::string daily(const std::string& group);
[[nodiscard]] bool is_daily(const CLI::Option& option);
/// Returns the option's group without the mark.
[[nodiscard]] std::string group_of(const CLI::Option& option);

/// What an option takes: a word such as FILE, and the choices if its value must be one of several.
struct OptionValue {
  std::string word;
  std::vector<std::string> choices;
};
[[nodiscard]] OptionValue value_of(const CLI::Option& option);

/// Returns the text of --help, or of --help-all if `all`. Lines have at most `width` columns.
[[nodiscard]] std::string help_text(const CLI::App& app, const std::vector<Example>& examples, bool all, std::size_t width);

/// Returns the columns of the terminal: $COLUMNS if set, else the size of the terminal on standard output, else 80.
/// Limited to 40..120.
[[nodiscard]] std::size_t terminal_width();

}  // namespace c63::tools
