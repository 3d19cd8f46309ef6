// Reads and writes signals in files. A signal is a series of numbers. Text has one number per line; it is divided into pieces
// at line ends, and several threads read or print pieces at the same time.
#include "filter/signal_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "c63/error.h"
#include "c63/thread_pool.h"
#include "io/input_file.h"

namespace c63 {
namespace {

static_assert(std::endian::native == std::endian::little, "raw signals are little-endian, and so must memory be");

constexpr std::array<std::pair<SignalFormat, std::string_view>, 8> kNames = {{{SignalFormat::automatic, "auto"},
                                                                              {SignalFormat::text, "text"},
                                                                              {SignalFormat::npy, "npy"},
                                                                              {SignalFormat::f64, "f64"},
                                                                              {SignalFormat::f32, "f32"},
                                                                              {SignalFormat::i32, "i32"},
                                                                              {SignalFormat::u32, "u32"},
                                                                              {SignalFormat::u8, "u8"}}};

std::vector<std::uint8_t> read_all(InputFile& file, std::size_t max_bytes) {
  std::vector<std::uint8_t> bytes;
  if (file.size()) {
    check_signal_memory(static_cast<std::uint64_t>(*file.size()), 0, max_bytes, file.name());
    bytes.resize(static_cast<std::size_t>(*file.size()));
    bytes.resize(file.read(bytes));
    return bytes;
  }
  // A pipe is read in pieces. One buffer that grows would need twice the memory while it is copied.
  std::deque<std::vector<std::uint8_t>> pieces;
  std::size_t size = 0;
  do {
    pieces.emplace_back(std::size_t{1} << 20);
    pieces.back().resize(file.read(pieces.back()));
    size += pieces.back().size();
    check_signal_memory(size, 0, max_bytes, file.name());
  } while (!pieces.back().empty());
  bytes.reserve(size);
  for (; !pieces.empty(); pieces.pop_front()) bytes.insert(bytes.end(), pieces.front().begin(), pieces.front().end());
  return bytes;
}

template <typename T>
std::vector<double> convert(std::span<const std::uint8_t> bytes, const std::string& file, std::size_t base,
                            std::size_t max_bytes) {
  if (bytes.size() % sizeof(T) != 0) {
    throw Error(ErrorKind::input, "C63-SIGNAL-SIZE",
                std::to_string(bytes.size()) + " bytes are not a whole number of values of size " + std::to_string(sizeof(T)),
                {.file = file, .offset = static_cast<std::int64_t>(base + bytes.size() / sizeof(T) * sizeof(T))});
  }
  check_signal_memory(bytes.size(), bytes.size() / sizeof(T), max_bytes, file);
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
    if (std::isfinite(values[i])) continue;
    throw Error(ErrorKind::input, "C63-SIGNAL-FINITE",
                "value " + std::to_string(i) + " is infinite or not a number: only finite values can be filtered",
                {.file = file, .offset = static_cast<std::int64_t>(base + i * sizeof(T))});
  }
  if (values.empty()) throw Error(ErrorKind::input, "C63-SIGNAL-EMPTY", "the input has no numbers", {.file = file});
  return values;
}

template <typename T>
void write_raw(OutputFile& file, std::span<const double> values) {
  std::vector<T> piece;
  for (std::size_t start = 0; start < values.size(); start += 65536) {
    piece.clear();
    for (const double value : values.subspan(start, std::min<std::size_t>(65536, values.size() - start))) {
      if constexpr (std::is_integral_v<T>) {
        if (!(value >= static_cast<double>(std::numeric_limits<T>::min()) &&
              value <= static_cast<double>(std::numeric_limits<T>::max()) && value == std::floor(value))) {
          throw Error(ErrorKind::usage, "C63-SIGNAL-RANGE",
                      "value " + std::to_string(start + piece.size()) + " is " + std::to_string(value) +
                          ", which this integer format cannot hold",
                      {.file = file.name()});
        }
      }
      piece.push_back(static_cast<T>(value));
    }
    file.write(std::span(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size() * sizeof(T)));
  }
}

/// A format of raw values.
struct RawFormat {
  SignalFormat format;
  std::string_view npy;  ///< the type's name in an array's header
  decltype(&convert<double>) read;
  decltype(&write_raw<double>) write;
};
constexpr std::array<RawFormat, 5> kRawFormats = {
    {{SignalFormat::f64, "'<f8'", convert<double>, write_raw<double>},
     {SignalFormat::f32, "'<f4'", convert<float>, write_raw<float>},
     {SignalFormat::i32, "'<i4'", convert<std::int32_t>, write_raw<std::int32_t>},
     {SignalFormat::u32, "'<u4'", convert<std::uint32_t>, write_raw<std::uint32_t>},
     {SignalFormat::u8, "'|u1'", convert<std::uint8_t>, write_raw<std::uint8_t>}}};
const RawFormat& raw_format(SignalFormat format) { return *std::ranges::find(kRawFormats, format, &RawFormat::format); }

/// Returns the text after `'key':` in an array's header, without leading blanks; empty if the key is missing.
std::string_view npy_entry(std::string_view header, std::string_view key) {
  std::string wanted = "'";
  wanted.append(key).append("':");
  const std::size_t at = header.find(wanted);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + wanted.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::vector<double> read_npy(std::span<const std::uint8_t> bytes, const std::string& file, std::size_t max_bytes) {
  const auto fail = [&](const char* id, const std::string& message) {
    throw Error(ErrorKind::input, id, message, {.file = file});
  };
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (bytes.size() < 12 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    fail("C63-NPY-MAGIC", "this is not a .npy file");
  }
  const bool wide = bytes[6] >= 2;  // in version 2, the header's length has four bytes
  std::size_t length = bytes[8] | static_cast<std::size_t>(bytes[9]) << 8;
  if (wide) length |= static_cast<std::size_t>(bytes[10]) << 16 | static_cast<std::size_t>(bytes[11]) << 24;
  const std::size_t start = wide ? 12 : 10;
  if (bytes.size() - start < length) fail("C63-NPY-HEADER", "the header is cut off");
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + start, length);

  const std::string_view type = npy_entry(header, "descr");
  const auto known = std::ranges::find_if(kRawFormats, [&](const RawFormat& raw) {
    return type.starts_with(raw.npy) || (raw.format == SignalFormat::u8 && type.starts_with("'<u1'"));
  });
  if (known == kRawFormats.end()) {
    fail("C63-NPY-TYPE", "values of type " + std::string(type.substr(0, type.find(','))) +
                             ": <f8, <f4, <i4, <u4 and |u1 can be read");
  }
  const std::string_view shape = npy_entry(header, "shape");
  const std::size_t comma = shape.find(',');
  const std::size_t close = shape.find(')');
  std::size_t count = 0;
  bool digits = shape.starts_with('(') && comma != std::string_view::npos && close == comma + 1 && comma > 1;
  for (const char c : digits ? shape.substr(1, comma - 1) : std::string_view{}) {
    digits = digits && c >= '0' && c <= '9' && count < (std::size_t{1} << 50);
    count = count * 10 + static_cast<std::size_t>(c - '0');
  }
  if (!digits) fail("C63-NPY-SHAPE", "the array must have one dimension, as in (1000,)");
  const auto values = known->read(bytes.subspan(start + length), file, start + length, max_bytes);
  if (values.size() != count) {
    fail("C63-NPY-SHAPE", "the header says " + std::to_string(count) + " values, the file has " +
                              std::to_string(values.size()));
  }
  return values;
}

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

template <>
std::span<const std::pair<SignalFormat, std::string_view>> names_of() { return kNames; }

SignalFormat signal_format_of(const std::string& path) {
  for (const auto& [format, suffix] : kNames) {
    const bool named = path.size() > suffix.size() && path.ends_with(suffix) && path[path.size() - suffix.size() - 1] == '.';
    if (named && format != SignalFormat::automatic && format != SignalFormat::text) return format;
  }
  return SignalFormat::text;
}

std::vector<double> parse_signal_text(std::string_view text, const std::string& file,
                                      const std::function<void(const std::string&)>& warn, std::size_t max_bytes) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // UTF-8's mark of byte order
  const std::vector<std::size_t> bounds = split_at_lines(text, std::size_t{1} << 18);
  const std::size_t pieces = bounds.size() - 1;
  std::vector<std::size_t> first_line(pieces + 1);
  parallel_for(pieces, [&](std::size_t piece) {
    const std::string_view part = text.substr(bounds[piece], bounds[piece + 1] - bounds[piece]);
    first_line[piece + 1] = static_cast<std::size_t>(std::ranges::count(part, '\n')) + (part.back() != '\n' ? 1 : 0);
  });
  for (std::size_t piece = 0; piece < pieces; ++piece) first_line[piece + 1] += first_line[piece];

  check_signal_memory(text.size(), first_line[pieces], max_bytes, file);
  std::vector<double> values(first_line[pieces]);
  std::vector<Fault> faults(pieces);
  parallel_for(pieces, [&](std::size_t piece) {
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
  parallel_for(pieces.size(), [&](std::size_t piece) {
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

std::vector<double> read_signal(const std::string& path, const SignalOptions& options) {
  InputFile file(path);
  const std::vector<std::uint8_t> bytes = read_all(file, options.max_bytes);
  const SignalFormat format = options.format == SignalFormat::automatic ? signal_format_of(path) : options.format;
  if (format == SignalFormat::npy) return read_npy(bytes, file.name(), options.max_bytes);
  if (format != SignalFormat::text) return raw_format(format).read(bytes, file.name(), 0, options.max_bytes);
  return parse_signal_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.name(), options.warn,
                           options.max_bytes);
}

void write_signal(const std::string& path, std::span<const double> values, SignalFormat format, Durability durability) {
  constexpr std::size_t kPrinted = std::size_t{1} << 18;
  if (format == SignalFormat::automatic) format = signal_format_of(path);
  OutputFile file(path, durability);
  if (format == SignalFormat::text) {
    // Text takes three times the memory of the values, so it is made and written in parts.
    for (std::size_t start = 0; start < values.size(); start += kPrinted) {
      const auto part = values.subspan(start, std::min(kPrinted, values.size() - start));
      for (const std::string& piece : print_signal_text(part)) file.write(piece);
    }
  } else if (format == SignalFormat::npy) {
    std::string header =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
    header.append(63 - (10 + header.size()) % 64, ' ');  // the values begin at a multiple of 64 bytes
    header += '\n';
    file.write(std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size() & 255) +
               static_cast<char>(header.size() >> 8) + header);
    write_raw<double>(file, values);
  } else {
    raw_format(format).write(file, values);
  }
  file.commit();
}

}  // namespace c63
