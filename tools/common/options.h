#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "c63/options.h"

namespace CLI {
class App;
}

// The options of every program are rows of tables. Only options.cpp and command_line.cpp use CLI11, because its headers take
// seconds to compile.

namespace c63::tools {

/// Takes the text of an option's value. Returns false to refuse it. The message then says what the value must be.
using TakeText = std::function<bool(const std::string&)>;

/// A value that must be one of several words.
struct Choice {
  TakeText take;
  std::vector<std::string> words;
  std::string standard;  ///< the default; empty: none
};

/// Where the value of an option goes: a bool, number, text or list, perhaps optional, or a function that takes it. Numbers in
/// other forms than their whole text are refused. Only options.cpp knows the types, because a variant of them takes long to
/// compile.
class OptionValue {
 public:
  using TakeFlag = std::function<void(bool)>;
  struct Target;

  template <typename Value>
  OptionValue(Value* value);
  OptionValue(TakeText take);
  OptionValue(TakeFlag take);
  OptionValue(Choice choice);
  template <typename Function>
    requires std::is_invocable_r_v<bool, Function, const std::string&>
  OptionValue(Function take) : OptionValue(TakeText(std::move(take))) {}
  template <typename Function>
    requires std::is_invocable_v<Function, bool>
  OptionValue(Function take) : OptionValue(TakeFlag(std::move(take))) {}

  [[nodiscard]] const Target& target() const { return *target_; }

 private:
  std::shared_ptr<const Target> target_;
};

/// What only some options have.
struct OptionDetails {
  bool daily = false;  ///< true: --help shows it; false: only --help-all does, unless the program marks no option
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};
  std::span<const std::string_view> extensions = {};  ///< in place of a choice, a file whose name ends so
  std::string example = {};                           ///< for the message about another value
  std::string standard = {};                          ///< the default, if the row's value does not have it
  char delimiter = '\0';                              ///< between the values of a list
  bool takes_one = false;                             ///< of a list: one word follows the option, not all up to the next option
  bool required = false;
  bool in_config = true;  ///< false: only on the command line
  std::vector<std::string> excludes = {};
  std::vector<std::string> needs = {};  ///< these options need this one, too
};

/// An option of a program.
struct OptionRow {
  std::string names;  ///< such as "-o,--output,output" (the last one without dashes: as an argument), or "--ssim,!--no-ssim"
  OptionValue value;
  std::string unit = {};  ///< what help shows for the value; empty: a flag
  std::string help = {};  ///< if empty, `names` is the name of a row of c63/options.inc, which has unit, help and group
  OptionDetails more = {};
};

/// Adds options, in one group of the help.
void add_options(CLI::App& app, const std::string& group, const std::vector<OptionRow>& rows);

/// Adds those options of the table (c63/options.inc) whose name or group is one of `names`, except options that programs do
/// not have. They set the fields of `settings`. A row of `own` with the name of such an option takes its place.
void add_table_options(CLI::App& app, EncoderSettings& settings, std::initializer_list<std::string_view> names,
                       const std::vector<OptionRow>& own = {});

/// Returns a TakeText that reads the text with `parse`, which returns nothing for a wrong text.
template <typename Value, typename Parse>
[[nodiscard]] TakeText into(Value& value, Parse parse) {
  return [&value, parse](const std::string& text) {
    const auto read = parse(text);
    if (read) value = *read;
    return read.has_value();
  };
}

/// Returns the choice of one of the named values.
template <typename Value, typename Names>
[[nodiscard]] Choice choice(Value& value, const Names& names) {
  Choice made;
  std::map<std::string, std::decay_t<decltype(std::begin(names)->first)>> known;
  for (const auto& [one, name] : names) {
    made.words.emplace_back(name);
    known.emplace(name, one);
    if (value == one) made.standard = name;
  }
  made.take = [&value, known](const std::string& text) {
    value = known.at(text);
    return true;
  };
  return made;
}
/// The same for an enumeration with names_of().
template <typename Enum>
  requires std::is_enum_v<Enum>
[[nodiscard]] Choice choice(Enum& value) {
  return choice(value, names_of<Enum>());
}
/// The same for some values that have a name().
template <typename Enum>
[[nodiscard]] Choice choice(Enum& value, const std::vector<Enum>& all) {
  std::vector<std::pair<Enum, std::string_view>> named;
  for (const Enum one : all) named.emplace_back(one, name(one));
  return choice(value, named);
}
template <typename Enum>
[[nodiscard]] Choice choice(std::optional<Enum>& value) {
  return choice(value, names_of<Enum>());
}

/// Ends the names of the groups of options that only --help-all shows. The help leaves it out.
constexpr std::string_view kMore = ", more";

}  // namespace c63::tools
