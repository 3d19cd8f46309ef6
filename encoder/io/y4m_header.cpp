#include "io/y4m_header.h"

#include <charconv>

#include "c63/error.h"

namespace c63 {
namespace {

constexpr std::string_view kMagic = "YUV4MPEG2";

/// Parses a text that consists only of a number >= 0. Returns false for other text.
bool parse_number(std::string_view text, int& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() && number >= 0;
}

bool parse_ratio(std::string_view text, FrameRate& rate) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && parse_number(text.substr(0, colon), rate.numerator) &&
         parse_number(text.substr(colon + 1), rate.denominator);
}

}  // namespace

Y4mHeader parse_y4m_header(std::string_view line, const std::string& file) {
  const auto fail = [&](const std::string& what, std::size_t offset) -> Error {
    return {ErrorKind::input, "C63-Y4M-HEADER", what, {.file = file, .offset = static_cast<std::int64_t>(offset)}};
  };
  if (line.substr(0, kMagic.size()) != kMagic) throw fail("no Y4M header", 0);
  Y4mHeader header;
  for (std::size_t at = kMagic.size(); at < line.size();) {
    if (line[at] == ' ') {
      ++at;
      continue;
    }
    const std::string_view parameter = line.substr(at, line.find(' ', at) - at);
    const std::string_view value = parameter.substr(1);
    const auto refuse = [&](const char* what) {
      return fail(std::string("Y4M header: ") + what + " '" + std::string(parameter.substr(0, 40)) + "'", at);
    };
    switch (parameter[0]) {
      case 'W':
        if (!parse_number(value, header.format.width) || header.format.width == 0) throw refuse("bad width");
        break;
      case 'H':
        if (!parse_number(value, header.format.height) || header.format.height == 0) throw refuse("bad height");
        break;
      case 'F': {
        FrameRate rate;
        if (!parse_ratio(value, rate)) throw refuse("bad frame rate");
        if (rate.numerator != 0 && rate.denominator != 0) header.format.rate = rate;  // 0:0 means "unknown"
        break;
      }
      case 'C':
        if (value.empty()) throw refuse("bad colour space");
        header.chroma = value;
        break;
      case 'I':  // interlacing, sample aspect and comments do not change the samples
      case 'A':
      case 'X':
        break;
      default:
        throw refuse("unknown parameter");
    }
    at += parameter.size();
  }
  if (header.format.width == 0 || header.format.height == 0) throw fail("Y4M header without a picture size", 0);
  return header;
}

}  // namespace c63
