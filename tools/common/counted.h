#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace c63::tools {

/// Returns a count with its noun, such as "1 frame" or "2 frames".
[[nodiscard]] inline std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace c63::tools
