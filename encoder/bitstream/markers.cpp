#include "bitstream/markers.h"

#include <cstring>

namespace c63 {
namespace {

constexpr std::size_t kPiece = 256;

/// Returns true if one of the first kPiece bytes is a 0xFF that is not followed by 0x00. Reads kPiece + 1 bytes.
/// Compilers vectorize it.
bool has_marker(const std::uint8_t* bytes) {
  std::uint8_t any = 0;
  for (std::size_t i = 0; i < kPiece; ++i) any |= (bytes[i] == 0xFF) & (bytes[i + 1] != 0x00);
  return any != 0;
}

}  // namespace

std::size_t next_marker(std::span<const std::uint8_t> bytes, std::size_t from) {
  for (std::size_t at = from;;) {
    while (at + kPiece < bytes.size() && !has_marker(bytes.data() + at)) at += kPiece;
    const void* const found = at < bytes.size() ? std::memchr(bytes.data() + at, 0xFF, bytes.size() - at) : nullptr;
    if (found == nullptr) return bytes.size();
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
    if (at + 1 >= bytes.size() || bytes[at + 1] != 0x00) return at;
    at += 2;
  }
}

}  // namespace c63
