#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace c63 {

/// Returns a number of bytes as text for people. A whole number of some unit is written in the largest such unit, as a
/// person would type it: "8GiB", "1500KB". Other numbers are written in bytes: "10948608 bytes (10.5 MiB)".
[[nodiscard]] inline std::string bytes_text(std::uint64_t bytes) {
  using Unit = std::pair<std::string_view, std::uint64_t>;
  constexpr std::array kUnits = {Unit{"TiB", 1ULL << 40}, Unit{"GiB", 1ULL << 30}, Unit{"GB", 1'000'000'000}, Unit{"MiB", 1ULL << 20},
                                 Unit{"MB", 1'000'000},    Unit{"KiB", 1ULL << 10}, Unit{"KB", 1'000}};
  for (const auto& [name, size] : kUnits) {
    if (bytes != 0 && bytes % size == 0) return std::to_string(bytes / size) + std::string(name);
  }
  std::string text = std::to_string(bytes) + " bytes";
  if (bytes < 1U << 20) return text;
  std::array<char, 32> about{};
  std::snprintf(about.data(), about.size(), " (%.1f MiB)", static_cast<double>(bytes) / (1 << 20));
  return text + about.data();
}

}  // namespace c63
