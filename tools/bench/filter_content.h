#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// The input data for timing filters, the same on CPU and GPU.

namespace c63::bench {

/// Returns random whole numbers in 0..255.
template <typename T>
std::vector<T> random_values(std::size_t count) {
  std::vector<T> values(count);
  std::uint32_t state = 1;
  for (T& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<T>(state >> 24);
  }
  return values;
}

inline constexpr std::array<const char*, 3> kByteContents = {"random", "video", "skewed"};

/// Returns bytes for timing histograms. `content` is one of three kinds: "random"; "video", slowly changing levels with
/// a little noise; "skewed", where nine of ten bytes are equal.
inline std::vector<std::uint8_t> bytes_of(const std::string& content, std::size_t count) {
  auto bytes = random_values<std::uint8_t>(count);
  if (content == "skewed") {
    for (std::uint8_t& byte : bytes) byte = byte < 230 ? 16 : byte;
  } else if (content == "video") {
    std::array<std::uint8_t, 1920> row;
    for (std::size_t x = 0; x < row.size(); ++x) {
      row[x] = static_cast<std::uint8_t>(110 + 60 * std::sin(static_cast<double>(x) * 0.003));
    }
    for (std::size_t i = 0; i < count; ++i) {
      bytes[i] = static_cast<std::uint8_t>(row[i % row.size()] + (i / row.size() / 40) % 32 + (bytes[i] & 7));
    }
  }
  return bytes;
}

}  // namespace c63::bench
