#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "codec/geometry.h"

namespace c63::cpu {
namespace {  // files that include it are compiled for different instruction sets

/// Returns the sum of absolute differences of two blocks. This form defines the correct result.
[[nodiscard]] std::uint32_t sad_8x8(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch) {
  std::uint32_t sum = 0;
  for (int y = 0; y < kBlockSize; ++y) {
    for (int x = 0; x < kBlockSize; ++x) {
      sum += static_cast<std::uint32_t>(std::abs(a[y * a_pitch + x] - b[y * b_pitch + x]));
    }
  }
  return sum;
}

}  // namespace
}  // namespace c63::cpu
