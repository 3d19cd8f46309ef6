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

/// Adds the options of the table (c63/options.inc) that have one of these names or groups. They set the fields of `settings`.
void add_table_options(CLI::App& app, EncoderSettings& settings, std::initializer_list<std::string_view> names);

/// "-q,--qp": what CLI11 calls an option of the table.
[[nodiscard]] std::string names_on_command_line(const OptionInfo& option);

/// Gives an option, which its program parses itself, the help, unit and group of the table.
CLI::Option* describe_by_table(CLI::Option* option, std::string_view name);

/// An option's value as JSON: enumerations by name, null for a value that the preset decides.
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
