#pragma once

#include <string>
#include <string_view>

namespace c63::tools {

/// Returns a text as a CSV field. It is quoted if it contains a comma, a quote or a line end. It gets a leading
/// apostrophe if a spreadsheet would take it for a formula, because file names may come from anywhere. Do not call it
/// for numbers, because "-" also begins a formula.
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  constexpr std::string_view kFormulas = "=+-@\t\r";
  std::string field;
  if (!text.empty() && kFormulas.find(text.front()) != std::string_view::npos) field += '\'';
  field += text;
  if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace c63::tools
