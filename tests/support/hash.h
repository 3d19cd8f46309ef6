#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace c63::test {
namespace detail {

/// `bytes` with the padding that MD5 and SHA-256 share: 0x80, zeros, and the length in bits.
inline std::vector<std::uint8_t> padded_message(std::span<const std::uint8_t> bytes, bool big_endian) {
  std::vector<std::uint8_t> message(bytes.begin(), bytes.end());
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  const std::uint64_t bits = std::uint64_t{8} * bytes.size();
  for (int i = 0; i < 8; ++i) {
    message.push_back(static_cast<std::uint8_t>(bits >> (big_endian ? 56 - 8 * i : 8 * i)));
  }
  return message;
}

inline std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

}  // namespace detail

/// MD5 (RFC 1321) as lower-case hex.
inline std::string md5(std::span<const std::uint8_t> bytes) {
  static constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  std::array<std::uint32_t, 64> sines;
  for (std::size_t i = 0; i < 64; ++i) {
    sines[i] = static_cast<std::uint32_t>(std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
  }
  std::array<std::uint32_t, 4> state = {0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U};
  const std::vector<std::uint8_t> message = detail::padded_message(bytes, /*big_endian=*/false);
  for (std::size_t start = 0; start < message.size(); start += 64) {
    std::array<std::uint32_t, 16> words{};
    for (std::size_t i = 0; i < 64; ++i)
      words[i / 4] |= static_cast<std::uint32_t>(message[start + i]) << (8 * (i % 4));
    auto [a, b, c, d] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      std::uint32_t mixed = 0;
      std::size_t word = 0;
      switch (i / 16) {
        case 0:
          mixed = (b & c) | (~b & d), word = i;
          break;
        case 1:
          mixed = (d & b) | (~d & c), word = (5 * i + 1) % 16;
          break;
        case 2:
          mixed = b ^ c ^ d, word = (3 * i + 5) % 16;
          break;
        default:
          mixed = c ^ (b | ~d), word = (7 * i) % 16;
          break;
      }
      const std::uint32_t turned = std::rotl(a + mixed + sines[i] + words[word], kShifts[i / 16][i % 4]);
      a = d, d = c, c = b, b += turned;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  }
  std::vector<std::uint8_t> digest;
  for (const std::uint32_t word : state) {
    for (int shift = 0; shift < 32; shift += 8) digest.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  return detail::hex(digest);
}

/// SHA-256 (FIPS 180-4) as lower-case hex.
inline std::string sha256(std::span<const std::uint8_t> bytes) {
  // The constants are the first 32 bits of the fractional parts of square and cube roots of the first primes.
  std::array<std::uint32_t, 64> constants;
  std::array<std::uint32_t, 8> state;
  const auto fraction = [](long double root) {
    return static_cast<std::uint32_t>(std::floor((root - std::floor(root)) * 4294967296.0L));
  };
  for (std::size_t n = 0, candidate = 2; n < 64; ++candidate) {
    bool prime = true;
    for (std::size_t divisor = 2; divisor * divisor <= candidate; ++divisor) prime = prime && candidate % divisor != 0;
    if (!prime) continue;
    if (n < 8) state[n] = fraction(std::sqrt(static_cast<long double>(candidate)));
    constants[n++] = fraction(std::cbrt(static_cast<long double>(candidate)));
  }
  const std::vector<std::uint8_t> message = detail::padded_message(bytes, /*big_endian=*/true);
  for (std::size_t start = 0; start < message.size(); start += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i)
      w[i / 4] |= static_cast<std::uint32_t>(message[start + i]) << (24 - 8 * (i % 4));
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
  std::vector<std::uint8_t> digest;
  for (const std::uint32_t word : state) {
    for (int shift = 24; shift >= 0; shift -= 8) digest.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  return detail::hex(digest);
}

}  // namespace c63::test
