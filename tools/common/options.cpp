#include "common/options.h"

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/help.h"

namespace c63::tools {
namespace {

template <typename Value>
struct Unset {
  using Type = Value;
  static constexpr bool kIsOptional = false;
};
template <typename Value>
struct Unset<std::optional<Value>> {
  using Type = Value;
  static constexpr bool kIsOptional = true;
};

template <typename Field>
CLI::Option* add_field(CLI::App& app, const std::string& names, Field& field) {
  using Value = typename Unset<Field>::Type;
  constexpr bool kIsOptional = Unset<Field>::kIsOptional;
  if constexpr (std::is_same_v<Value, bool> && kIsOptional) {
    return app.add_flag_function(names, [&field](std::int64_t count) { field = count > 0; });
  } else if constexpr (std::is_same_v<Value, bool>) {
    return app.add_flag(names, field);
  } else if constexpr (std::is_enum_v<Value>) {
    std::vector<std::string> known;
    for (const auto& entry : names_of<Value>()) known.emplace_back(entry.second);
    const auto take = [&field](const std::string& text) {
      field = std::ranges::find(names_of<Value>(), text, &std::pair<Value, std::string_view>::second)->first;
    };
    CLI::Option* option = app.add_option_function<std::string>(names, take)->check(CLI::IsMember(known));
    if constexpr (!kIsOptional) option->default_str(std::string(name(field)));
    return option;
  } else {
    CLI::Option* option = app.add_option(names, field);
    if constexpr (!kIsOptional) option->capture_default_str();
    return option;
  }
}

}  // namespace

std::string names_on_command_line(const OptionInfo& option) {
  const std::string name = "--" + std::string(option.name);
  const std::string both = option.letter.empty() ? name : "-" + std::string(option.letter) + "," + name;
  return option.unit.empty() ? both + ",!--no-" + std::string(option.name) : both;
}

CLI::Option* describe_by_table(CLI::Option* option, std::string_view name) {
  const OptionInfo& info = option_info(name);
  if (!info.unit.empty()) option->type_name(std::string(info.unit));
  const std::string group(info.group);
  std::string details = info.example.empty() ? "" : "such as " + std::string(info.example);
  if (const std::string more = details_of(info); !more.empty()) details += (details.empty() ? "" : "; ") + more;
  return option->description(std::string(info.help) + (details.empty() ? "" : " (" + details + ")"))->group(info.daily ? daily(group) : group);
}

void add_table_options(CLI::App& app, EncoderSettings& settings, std::initializer_list<std::string_view> names) {
  for_each_option(settings, [&](const OptionInfo& info, auto& field) {
    const bool is_wanted = std::ranges::find(names, info.name) != names.end() || std::ranges::find(names, info.group) != names.end();
    if (is_wanted && info.in_programs) describe_by_table(add_field(app, names_on_command_line(info), field), info.name);
  });
}

}  // namespace c63::tools
