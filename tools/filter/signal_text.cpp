// Reads and prints signals as text. A signal is a series of numbers; its text has one number per line. The text is
// divided into pieces at line ends, and several threads read or print pieces at the same time.
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "c63/error.h"
#include "filter/signal_file.h"

namespace c63 {
namespace {

/// The first error in a piece of the text.
struct Fault {
  std::size_t offset = std::numeric_limits<std::size_t>::max();
  const char* id = nullptr;
  std::string message;
};

std::string_view trimmed(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

std::string quoted(std::string_view text) {
  std::string safe;
  for (const char c : text.substr(0, 40)) safe += c >= ' ' && c < 127 ? c : '?';
  return "'" + safe + (text.size() > 40 ? "…'" : "'");
}

/// Returns the value that a line of text holds. If the line is not a number, fills `fault` and returns nothing.
std::optional<double> number_of(std::string_view line, Fault& fault) {
  std::string_view text = trimmed(line);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::result_out_of_range && end == text.data() + text.size()) {
    fault.id = "C63-SIGNAL-NUMBER";
    fault.message = quoted(text) + " is too large or too small for a double";
  } else if (status != std::errc() || end != text.data() + text.size()) {
    fault.id = "C63-SIGNAL-NUMBER";
    fault.message = text.empty() ? std::string("the line is empty") : quoted(text) + " is not a number";
  } else if (!std::isfinite(value)) {
    fault.id = "C63-SIGNAL-FINITE";
    fault.message = quoted(text) + ": only finite numbers can be filtered";
  } else {
    return value;
  }
  return std::nullopt;
}

/// Returns the bounds of pieces of about `size` bytes, each of which begins at the start of a line.
std::vector<std::size_t> split_at_lines(std::string_view text, std::size_t size) {
  std::vector<std::size_t> bounds = {0};
  while (bounds.back() < text.size()) {
    const std::size_t target = bounds.back() + size;
    const std::size_t end = target < text.size() ? text.find('\n', target) : std::string_view::npos;
    bounds.push_back(end == std::string_view::npos ? text.size() : end + 1);
  }
  return bounds;
}

}  // namespace

std::vector<double> parse_signal_text(std::string_view text, const std::string& file,
                                      const std::function<void(const std::string&)>& warn, std::size_t max_bytes) {
  const std::vector<std::size_t> bounds = split_at_lines(text, std::size_t{1} << 18);
  const std::size_t pieces = bounds.size() - 1;
  std::vector<std::size_t> first_line(pieces + 1);
  tbb::parallel_for(std::size_t{0}, pieces, [&](std::size_t piece) {
    const std::string_view part = text.substr(bounds[piece], bounds[piece + 1] - bounds[piece]);
    first_line[piece + 1] = static_cast<std::size_t>(std::ranges::count(part, '\n')) + (part.back() != '\n' ? 1 : 0);
  });
  for (std::size_t piece = 0; piece < pieces; ++piece) first_line[piece + 1] += first_line[piece];

  check_signal_memory(text.size(), first_line[pieces], max_bytes, file);
  std::vector<double> values(first_line[pieces]);
  std::vector<Fault> faults(pieces);
  tbb::parallel_for(std::size_t{0}, pieces, [&](std::size_t piece) {
    std::size_t at = bounds[piece];
    for (std::size_t line = first_line[piece]; line < first_line[piece + 1]; ++line) {
      const char* from = text.data() + at;
      const std::size_t rest = bounds[piece + 1] - at;
      const auto* end = static_cast<const char*>(std::memchr(from, '\n', rest));
      const std::size_t length = end == nullptr ? rest : static_cast<std::size_t>(end - from);
      const auto value = number_of({from, length}, faults[piece]);
      if (!value) {
        faults[piece].offset = at;
        faults[piece].message = "line " + std::to_string(line + 1) + ": " + faults[piece].message;
        return;
      }
      values[line] = *value;
      at += length + 1;
    }
  });
  for (const Fault& fault : faults) {
    if (fault.id == nullptr) continue;
    throw Error(ErrorKind::input, fault.id, fault.message,
                {.file = file, .offset = static_cast<std::int64_t>(fault.offset)});
  }
  if (values.empty()) throw Error(ErrorKind::input, "C63-SIGNAL-EMPTY", "the input has no numbers", {.file = file});
  if (text.back() != '\n' && warn) {
    warn("line " + std::to_string(values.size()) + ", the last one, does not end with a newline: its number may be cut off");
  }
  return values;
}

std::vector<std::string> print_signal_text(std::span<const double> values) {
  constexpr std::size_t kPiece = 16384;
  std::vector<std::string> pieces((values.size() + kPiece - 1) / kPiece);
  tbb::parallel_for(std::size_t{0}, pieces.size(), [&](std::size_t piece) {
    const auto mine = values.subspan(piece * kPiece, std::min(kPiece, values.size() - piece * kPiece));
    std::string& text = pieces[piece];
    text.resize(mine.size() * 25);  // a double takes at most 24 characters, plus the line end
    char* at = text.data();
    for (const double value : mine) {
      at = std::to_chars(at, text.data() + text.size(), value).ptr;
      *at++ = '\n';
    }
    text.resize(static_cast<std::size_t>(at - text.data()));
  });
  return pieces;
}

}  // namespace c63
