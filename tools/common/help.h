#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace c63::tools {

struct Example;

/// The name of a group for its options of daily use: --help shows them, and --help-all shows all.
[[nodiscard]] std::string daily(const std::string& group);
[[nodiscard]] bool is_daily(const CLI::Option& option);
/// The option's group without that mark.
[[nodiscard]] std::string group_of(const CLI::Option& option);

/// What an option takes: NAME and the choices a and b, if it is one of several.
struct OptionValue {
  std::string word;
  std::vector<std::string> choices;
};
[[nodiscard]] OptionValue value_of(const CLI::Option& option);

/// The text of --help, or with `all` of --help-all, with lines of at most `width` columns.
[[nodiscard]] std::string help_text(const CLI::App& app, const std::vector<Example>& examples, bool all, std::size_t width);

/// The width of the terminal: $COLUMNS, else what standard output says, else 80; within 40..120.
[[nodiscard]] std::size_t terminal_width();

}  // namespace c63::tools
