#pragma once

#include <string>
#include <string_view>

namespace c63::tools {

/// A text as a field of CSV. What holds a comma, a quote or a line end is quoted. A text that a spreadsheet would take for a
/// formula gets an apostrophe before it: names of files are from anywhere. Numbers are not for this function.
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
