#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "c63/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace c63::tools {

/// Adds those options of the table (c63/options.inc) whose name or group is one of `names`, except options that programs do
/// not have. They set the fields of `settings`.
void add_table_options(CLI::App& app, EncoderSettings& settings, std::initializer_list<std::string_view> names);

/// Returns an option's names as CLI11 wants them, such as "-q,--qp", or "--rdoq,!--no-rdoq" for a flag.
[[nodiscard]] std::string names_on_command_line(const OptionInfo& option);

/// Gives `option` the help text, unit and group that the table has for `name`. The program itself parses the option.
CLI::Option* describe_by_table(CLI::Option* option, std::string_view name);

/// Returns an option's value as JSON: an enumeration by name, null for a value that the preset decides.
template <typename Value>
[[nodiscard]] nlohmann::ordered_json option_json(const Value& value) {
  return value;
}
template <typename Value>
  requires std::is_enum_v<Value>
[[nodiscard]] nlohmann::ordered_json option_json(const Value& value) {
  return name(value);
}
template <typename Value>
[[nodiscard]] nlohmann::ordered_json option_json(const std::optional<Value>& value) {
  return value ? option_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace c63::tools
