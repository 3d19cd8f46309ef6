#include "common/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "common/values.h"

namespace c63::tools {

/// One of the types of values.
struct OptionValue::Target {
  std::variant<bool*, std::optional<bool>*, int*, std::int64_t*, std::uint32_t*, std::uint64_t*, double*, std::string*, std::optional<int>*,
               std::optional<std::int64_t>*, std::optional<double>*, std::optional<std::string>*, std::vector<std::string>*,
               std::vector<int>*, std::vector<double>*, TakeText, TakeFlag, Choice>
      of;
};

template <typename Value>
OptionValue::OptionValue(Value* value) : target_(std::make_shared<Target>(Target{value})) {}
OptionValue::OptionValue(TakeText take) : target_(std::make_shared<Target>(Target{std::move(take)})) {}
OptionValue::OptionValue(TakeFlag take) : target_(std::make_shared<Target>(Target{std::move(take)})) {}
OptionValue::OptionValue(Choice choice) : target_(std::make_shared<Target>(Target{std::move(choice)})) {}

template OptionValue::OptionValue(bool*);
template OptionValue::OptionValue(std::optional<bool>*);
template OptionValue::OptionValue(int*);
template OptionValue::OptionValue(std::int64_t*);
template OptionValue::OptionValue(std::uint32_t*);
template OptionValue::OptionValue(std::uint64_t*);
template OptionValue::OptionValue(double*);
template OptionValue::OptionValue(std::string*);
template OptionValue::OptionValue(std::optional<int>*);
template OptionValue::OptionValue(std::optional<std::int64_t>*);
template OptionValue::OptionValue(std::optional<double>*);
template OptionValue::OptionValue(std::optional<std::string>*);
template OptionValue::OptionValue(std::vector<std::string>*);
template OptionValue::OptionValue(std::vector<int>*);
template OptionValue::OptionValue(std::vector<double>*);

namespace {

template <typename Value>
struct Element {
  using Type = Value;
};
template <typename Value>
struct Element<std::optional<Value>> : Element<Value> {};
template <typename Value>
struct Element<std::vector<Value>> : Element<Value> {};

[[noreturn]] void refuse(const OptionRow& row, const std::string& name, const std::string& text) {
  std::string wanted = row.unit + (row.more.example.empty() ? "" : " such as " + row.more.example);
  if (!row.more.choices.empty()) wanted = fmt::format("one of {}{}", fmt::join(row.more.choices, ", "), std::isfinite(row.more.least) ? ", a number" : "");
  for (const std::string_view extension : row.more.extensions) wanted.append(", *").append(extension);
  if (std::isfinite(row.more.least)) wanted += fmt::format(" of at least {}", row.more.least);
  if (std::isfinite(row.more.most)) wanted += fmt::format(" and at most {}", row.more.most);
  throw CLI::ValidationError(name, fmt::format("\"{}\" is not possible; give {}", text, wanted));
}

/// Reads a decimal number or, after 0x, a whole hexadecimal one.
template <typename Value>
std::optional<Value> number_from(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return parse<Value>(text);
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_integral_v<Value>) {
    if (!std::in_range<Value>(value)) return std::nullopt;
  }
  return static_cast<Value>(value);
}

/// Returns the value that the text has, or nothing for a text that the row does not allow.
template <typename Value>
std::optional<Value> value_of(const OptionRow& row, std::string text) {
  if constexpr (std::is_same_v<Value, std::string>) {
    const auto choice = std::ranges::find(row.more.choices, CLI::detail::to_lower(text),
                                          [](const std::string& word) { return CLI::detail::to_lower(word); });
    if (choice != row.more.choices.end()) return *choice;
    const bool is_free = row.more.choices.empty() && std::isinf(row.more.least);
    const bool is_number = std::isfinite(row.more.least) && value_of<std::int64_t>(row, text);
    return is_free || is_number || has_extension(text, row.more.extensions) ? std::optional(text) : std::nullopt;
  } else {
    const auto read = number_from<Value>(text);
    return read && static_cast<double>(*read) >= row.more.least && static_cast<double>(*read) <= row.more.most
               ? read
               : std::nullopt;
  }
}

/// The same, but refuses other texts.
template <typename Value>
Value require(const OptionRow& row, const std::string& name, const std::string& text) {
  const auto value = value_of<Value>(row, text);
  if (!value) refuse(row, name, text);
  return *value;
}

std::string standard_of(const auto& value) {
  if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
    return value;
  } else if constexpr (requires { value.has_value(); }) {
    return "";
  } else if constexpr (requires { value.size(); }) {
    return fmt::format("{}", fmt::join(value, ","));
  } else {
    return fmt::to_string(value);
  }
}

CLI::Option* add_flag(CLI::App& app, const OptionRow& row) {
  const auto add = [&](auto set) {
    return app.add_flag_function(row.names, [set](std::int64_t count) { set(count > 0); })->take_last();
  };
  if (auto* const* flag = std::get_if<bool*>(&row.value.target().of)) return add([to = *flag](bool is) { *to = is; });
  if (auto* const* flag = std::get_if<std::optional<bool>*>(&row.value.target().of))
    return add([to = *flag](bool is) { *to = is; });
  return add(std::get<OptionValue::TakeFlag>(row.value.target().of));
}

CLI::Option* add_value(CLI::App& app, const OptionRow& row) {
  const std::string name = row.names.substr(0, row.names.find(','));
  if (const auto* take_text = std::get_if<TakeText>(&row.value.target().of)) {
    const auto set = [row, name, take = *take_text](const std::string& text) {
      if (!take(text)) refuse(row, name, text);
    };
    CLI::Option* option = app.add_option_function<std::string>(row.names, set);
    return option->default_str(row.more.standard);
  }
  return std::visit(
      [&](const auto& value) -> CLI::Option* {
        using Value = std::remove_pointer_t<std::decay_t<decltype(value)>>;
        using One = typename Element<Value>::Type;
        if constexpr (std::is_pointer_v<std::decay_t<decltype(value)>> && !std::is_same_v<One, bool>) {
          CLI::Option* option = nullptr;
          if constexpr (std::is_same_v<Value, std::vector<One>>) {
            const auto set = [row, name, value](const std::vector<std::string>& words) {
              value->clear();
              for (const std::string& word : words) value->push_back(require<One>(row, name, word));
            };
            option = app.add_option_function<std::vector<std::string>>(row.names, set);
            if (row.more.delimiter != '\0') option->delimiter(row.more.delimiter);
            if (row.more.takes_one) option->allow_extra_args(false);
          } else {
            const auto set = [row, name, value](const std::string& word) { *value = require<One>(row, name, word); };
            option = app.add_option_function<std::string>(row.names, set);
          }
          return option->default_str(row.more.standard.empty() ? standard_of(*value) : row.more.standard);
        } else {
          return nullptr;  // handled above
        }
      },
      row.value.target().of);
}

}  // namespace

void add_options(CLI::App& app, const std::string& group, const std::vector<OptionRow>& rows) {
  std::map<std::string_view, std::vector<CLI::Option*>> exclusive;
  for (OptionRow row : rows) {
    std::string group_name = group;
    const OptionInfo* const info = row.help.empty() ? &option_info(row.names) : nullptr;
    if (info != nullptr) {
      const std::string name = "--" + std::string(info->name);
      row.names = info->letter.empty() ? name : "-" + std::string(info->letter) + "," + name;
      if (info->unit.empty()) row.names += ",!--no-" + std::string(info->name);
      row.unit = info->unit;
      row.more.example = info->example;
      row.more.daily = info->daily;
      group_name = info->group;
      std::string details = info->example.empty() ? "" : "such as " + std::string(info->example);
      if (const std::string more = details_of(*info); !more.empty()) details += (details.empty() ? "" : "; ") + more;
      row.help = std::string(info->help) + (details.empty() ? "" : " (" + details + ")");
    }
    if (const auto* choice = std::get_if<Choice>(&row.value.target().of)) {
      row.more.choices = choice->words;
      row.more.standard = choice->standard;
      const TakeText take = [words = row, take = choice->take](const std::string& text) {
        const auto word = value_of<std::string>(words, text);
        return word && take(*word);
      };
      row.value = take;
    }
    CLI::Option* option = row.unit.empty() ? add_flag(app, row) : add_value(app, row);
    const auto is_told = [&](const std::string& word) { return row.help.find(word) != std::string::npos; };
    if (!std::ranges::all_of(row.more.choices, is_told))
      row.help += fmt::format("; one of {}", fmt::join(row.more.choices, ", "));
    option->description(row.help)
        ->group(group_name + (row.more.daily ? "" : std::string(kMore)))
        ->configurable(row.more.in_config)
        ->required(row.more.required);
    if (!row.unit.empty()) option->type_name(row.unit);
    if (info != nullptr && !info->one_of.empty()) exclusive[info->one_of].push_back(option);
    for (const std::string& other : row.more.excludes) option->excludes(app.get_option(other));
    for (const std::string& other : row.more.needs) app.get_option(other)->needs(option->needs(app.get_option(other)));
  }
  for (const auto& [word, options] : exclusive) {
    for (std::size_t i = 0; i < options.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) options[i]->excludes(options[k]);
    }
  }
}

void add_table_options(CLI::App& app, EncoderSettings& settings, std::initializer_list<std::string_view> names,
                       const std::vector<OptionRow>& own) {
  std::vector<OptionRow> rows;
  for_each_option(settings, [&](const OptionInfo& info, auto& field) {
    using Field = typename Element<std::decay_t<decltype(field)>>::Type;
    const bool is_wanted =
        std::ranges::find(names, info.name) != names.end() || std::ranges::find(names, info.group) != names.end();
    if (!is_wanted || !info.in_programs) return;
    if (const auto other = std::ranges::find(own, info.name, &OptionRow::names); other != own.end()) {
      rows.push_back(*other);
    } else if constexpr (std::is_enum_v<Field>) {
      rows.push_back({std::string(info.name), choice(field)});
    } else {
      rows.push_back({std::string(info.name), &field});
    }
  });
  add_options(app, "", rows);
}

}  // namespace c63::tools
