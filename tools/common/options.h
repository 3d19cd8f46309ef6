#pragma once

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <concepts>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "c63/options.h"
#include "common/help.h"
#include "common/values.h"

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

/// Returns a function for OptionGroup::add() that reads the text with `parse` into `value`. If `parse` returns nothing,
/// the text is refused with a message such as: "abc" is not a rate like 25.
template <typename Value, typename Parse>
[[nodiscard]] auto parsed(const std::string& option, Value& value, Parse parse, const std::string& refusal) {
  return [option, &value, parse, refusal](const std::string& text) {
    const auto read = parse(text);
    if (!read) throw CLI::ValidationError(option, "\"" + text + "\" " + refusal);
    value = *read;
  };
}

/// The same for --fps.
template <typename Rate>
[[nodiscard]] auto parsed_rate(Rate& rate) {
  return parsed("--fps", rate, frame_rate_from, "is not a rate like 25 or 30000/1001");
}

/// Adds options to a program, in one group of its help. --help shows only options of daily use.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string name) : app_(app), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Adds an option. `value` is where its value goes, or a function that takes the text. `kind` is a word for the
  /// value, such as FILE.
  template <typename Value>
  CLI::Option* add(const std::string& names, Value&& value, const std::string& kind, const std::string& help) const {
    if constexpr (std::invocable<Value, const std::string&>) {
      return app_.add_option_function<std::string>(names, std::forward<Value>(value), help)
          ->type_name(kind)
          ->group(name_);
    } else {
      return app_.add_option(names, value, help)->type_name(kind)->group(name_);
    }
  }
  template <typename Value>
  CLI::Option* add_daily(const std::string& names, Value&& value, const std::string& kind,
                         const std::string& help) const {
    return add(names, std::forward<Value>(value), kind, help)->group(daily(name_));
  }

  CLI::Option* flag(const std::string& names, bool& value, const std::string& help) const {
    return app_.add_flag(names, value, help)->group(name_);
  }
  CLI::Option* daily_flag(const std::string& names, bool& value, const std::string& help) const {
    return flag(names, value, help)->group(daily(name_));
  }

 private:
  CLI::App& app_;
  std::string name_;
};

}  // namespace c63::tools
