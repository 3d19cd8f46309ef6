#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace c63 {

/// Returns the values of an enum with their names, in the order of the help texts. Each enum that users name has one
/// such table, next to what it belongs to.
template <typename Enum>
[[nodiscard]] std::span<const std::pair<Enum, std::string_view>> names_of();

/// Returns the name of a value.
template <typename Enum>
[[nodiscard]] std::string_view name(Enum value) {
  const auto names = names_of<Enum>();
  const auto found = std::ranges::find(names, value, &std::pair<Enum, std::string_view>::first);
  return found == names.end() ? "?" : found->second;
}

/// Returns the value with this name, or nullopt for an unknown name.
template <typename Enum>
[[nodiscard]] std::optional<Enum> enum_from(std::string_view text) {
  const auto names = names_of<Enum>();
  const auto found = std::ranges::find(names, text, &std::pair<Enum, std::string_view>::second);
  return found == names.end() ? std::nullopt : std::optional(found->first);
}

/// Returns all values, in the order of the help texts.
template <typename Enum>
[[nodiscard]] std::vector<Enum> values_of() {
  std::vector<Enum> values;
  for (const auto& entry : names_of<Enum>()) values.push_back(entry.first);
  return values;
}

}  // namespace c63
