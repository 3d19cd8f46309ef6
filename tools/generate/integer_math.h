#pragma once

#include <array>
#include <cstdint>

// Integer arithmetic for generated video, so that every machine generates the same bytes.

namespace c63 {

/// Returns a pseudo-random number that depends on all bits of `x`.
[[nodiscard]] constexpr std::uint32_t hash(std::uint32_t x) {
  x = (x ^ (x >> 17)) * 0xed5ad4bbU;
  x = (x ^ (x >> 11)) * 0xac4c1b51U;
  x = (x ^ (x >> 15)) * 0x31848babU;
  return x ^ (x >> 14);
}
template <typename... More>
[[nodiscard]] constexpr std::uint32_t hash(std::uint32_t x, std::uint32_t y, More... more) {
  return hash(hash(x) + 0x9e3779b9U * (y + 1), more...);
}

/// Divides and rounds to nearest, halves up. `divisor` must be positive.
[[nodiscard]] constexpr std::int64_t divide_rounded(std::int64_t value, std::int64_t divisor) {
  const std::int64_t doubled = 2 * value + divisor;
  const std::int64_t quotient = doubled / (2 * divisor);
  return doubled % (2 * divisor) < 0 ? quotient - 1 : quotient;
}

inline constexpr int kTurn = 4096;   ///< angle units in a full circle
inline constexpr int kUnit = 16384;  ///< what sine() returns for 1

namespace detail {

/// Returns a table of the first quarter of a sine wave. It is computed from the sine's series with 30 fraction bits.
constexpr std::array<std::int32_t, kTurn / 4 + 1> make_quarter_sine() {
  constexpr std::int64_t kPi = 3373259426;  // pi with 30 fraction bits
  std::array<std::int32_t, kTurn / 4 + 1> table{};
  for (int i = 0; i <= kTurn / 4; ++i) {
    const std::int64_t x = kPi * 2 * i / kTurn;
    const std::int64_t square = (x * x) >> 30;
    std::int64_t term = x;
    std::int64_t sum = 0;
    for (std::int64_t k = 1; k < 16; k += 2) {
      sum += term;
      term = -(((term * square) >> 30) / ((k + 1) * (k + 2)));
    }
    table[i] = static_cast<std::int32_t>((sum + (1 << 15)) >> 16);
  }
  return table;
}

inline constexpr auto kQuarterSine = make_quarter_sine();

}  // namespace detail

/// Returns kUnit times the sine of `angle`, which is in units of 1/kTurn circle.
[[nodiscard]] constexpr int sine(std::int64_t angle) {
  const int a = static_cast<int>(((angle % kTurn) + kTurn) % kTurn);
  const int quarter = a % (kTurn / 4);
  switch (a / (kTurn / 4)) {
    case 0:
      return detail::kQuarterSine[quarter];
    case 1:
      return detail::kQuarterSine[kTurn / 4 - quarter];
    case 2:
      return -detail::kQuarterSine[quarter];
    default:
      return -detail::kQuarterSine[kTurn / 4 - quarter];
  }
}
[[nodiscard]] constexpr int cosine(std::int64_t angle) { return sine(angle + kTurn / 4); }

/// Makes a noise sample from 32 random bits. Such samples are nearly normally distributed. Their mean is 0, and their
/// standard deviation is `sixteenths` / 16 grey levels.
[[nodiscard]] constexpr int noise_sample(std::uint32_t bits, int sixteenths) {
  const int sum = static_cast<int>((bits & 255) + ((bits >> 8) & 255) + ((bits >> 16) & 255) + (bits >> 24)) - 510;
  return static_cast<int>(divide_rounded(static_cast<std::int64_t>(sum) * sixteenths, 148 * 16));
}

[[nodiscard]] constexpr std::uint8_t clamp_sample(int value) {
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace c63
