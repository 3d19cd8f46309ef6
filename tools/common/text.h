#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace c63::tools {

/// Returns a count with its noun, such as "1 frame" or "2 frames".
[[nodiscard]] inline std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

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

/// Replaces each `open`NAME`close` in a text by the value of NAME in `values`. Unknown names stay as they are. The
/// values themselves are not searched for names.
[[nodiscard]] std::string fill_in(std::string_view text, char open, char close,
                                  const std::map<std::string, std::string>& values);

// Text for HTML pages that load nothing from elsewhere.

/// Returns JSON for a script element of a page. No text in it can end the element.
[[nodiscard]] std::string embedded(const nlohmann::ordered_json& json);

/// Returns the text with U+FFFD in place of bytes that are not UTF-8. File names may have any bytes.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// Returns the text escaped for HTML, between tags or in a quoted attribute. It is valid UTF-8, with blanks for control
/// characters.
[[nodiscard]] std::string escaped(std::string_view text);

[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace c63::tools
