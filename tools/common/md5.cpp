#include "common/md5.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace c63::tools {
namespace {

/// floor(2^32 · |sin(i + 1)|), as RFC 1321 defines its table.
const std::array<std::uint32_t, 64>& sine_table() {
  static const auto kTable = [] {
    std::array<std::uint32_t, 64> table{};
    for (std::size_t i = 0; i < 64; ++i) {
      table[i] = static_cast<std::uint32_t>(std::floor(4294967296.0 * std::fabs(std::sin(static_cast<double>(i + 1)))));
    }
    return table;
  }();
  return kTable;
}

constexpr std::array<std::array<int, 4>, 4> kRotations = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

}  // namespace

void Md5::block(const std::uint8_t* bytes) {
  std::array<std::uint32_t, 16> words{};
  for (std::size_t i = 0; i < 16; ++i) {
    words[i] = static_cast<std::uint32_t>(bytes[4 * i]) | static_cast<std::uint32_t>(bytes[4 * i + 1]) << 8 |
               static_cast<std::uint32_t>(bytes[4 * i + 2]) << 16 | static_cast<std::uint32_t>(bytes[4 * i + 3]) << 24;
  }
  const auto& sines = sine_table();
  auto [a, b, c, d] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    std::uint32_t mixed = 0;
    std::size_t word = 0;
    switch (i / 16) {
      case 0:
        mixed = (b & c) | (~b & d);
        word = i;
        break;
      case 1:
        mixed = (d & b) | (~d & c);
        word = (5 * i + 1) % 16;
        break;
      case 2:
        mixed = b ^ c ^ d;
        word = (3 * i + 5) % 16;
        break;
      default:
        mixed = c ^ (b | ~d);
        word = 7 * i % 16;
        break;
    }
    const std::uint32_t sum = a + mixed + sines[i] + words[word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kRotations[i / 16][i % 4]);
  }
  state_[0] += a;
  state_[1] += b;
  state_[2] += c;
  state_[3] += d;
}

void Md5::add(std::span<const std::uint8_t> bytes) {
  auto filled = static_cast<std::size_t>(length_ % 64);
  length_ += bytes.size();
  if (filled > 0) {
    const std::size_t taken = std::min(bytes.size(), 64 - filled);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(filled));
    bytes = bytes.subspan(taken);
    filled += taken;
    if (filled < 64) return;
    block(pending_.data());
  }
  for (; bytes.size() >= 64; bytes = bytes.subspan(64)) block(bytes.data());
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

Md5Digest Md5::finish() {
  const std::uint64_t bits = length_ * 8;
  std::array<std::uint8_t, 72> tail{0x80};
  const std::size_t padding = 64 - (length_ + 8) % 64;
  for (std::size_t i = 0; i < 8; ++i) tail[padding + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  add(std::span(tail).first(padding + 8));
  Md5Digest digest{};
  for (std::size_t i = 0; i < 16; ++i) digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (8 * (i % 4)));
  return digest;
}

Md5Digest md5(std::span<const std::uint8_t> bytes) {
  Md5 sum;
  sum.add(bytes);
  return sum.finish();
}

std::string hex(const Md5Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace c63::tools
