#include "c63/error.h"

#include <utility>

namespace c63 {
namespace {

std::string describe(const std::string& id, const std::string& message, const ErrorPlace& place) {
  std::string text;
  if (!place.file.empty()) text += place.file + ": ";
  if (place.frame) text += "frame " + std::to_string(*place.frame) + ": ";
  if (!place.block.empty()) text += place.block + ": ";
  text += message;
  if (place.offset) text += " at byte " + std::to_string(*place.offset);
  return one_line(text + " [" + id + "]");
}

}  // namespace

std::string one_line(std::string text) {
  const auto is_control = [&](std::size_t i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < ' ' || c == 127) return true;
    // U+0080 to U+009F are control characters, too, and terminals obey them.
    return c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) >= 0x80 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_control(i)) continue;
    if (static_cast<unsigned char>(text[i]) == 0xC2) text[i + 1] = ' ';
    text[i] = ' ';
  }
  return text;
}

Error::Error(ErrorKind kind, std::string id, std::string message, ErrorPlace place)
    : std::runtime_error(describe(id, message, place)),
      kind_(kind),
      id_(std::move(id)),
      message_(one_line(std::move(message))),
      place_(std::move(place)) {}

Error Error::at(const ErrorPlace& outer) const {
  ErrorPlace place = place_;
  if (place.file.empty()) place.file = outer.file;
  if (!place.frame) place.frame = outer.frame;
  if (!place.offset) place.offset = outer.offset;
  if (place.block.empty()) place.block = outer.block;
  return {kind_, id_, message_, std::move(place)};
}

}  // namespace c63
