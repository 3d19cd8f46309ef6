#pragma once

#include <algorithm>
#include <cstdint>

#include "bitstream/frame_syntax.h"
#include "codec/quantization.h"
#include "codec/search_window.h"
#include "support/generators.h"

namespace c63::test {

/// Random syntax elements that an encoder could have made. On average, `density` of a block's 64 levels are not zero.
/// Their magnitudes are at most `largest`.
inline FrameSyntax random_syntax(const Geometry& geometry, bool key, std::uint32_t density, int largest,
                                 std::uint64_t seed) {
  Random random(seed);
  FrameSyntax syntax(geometry);
  syntax.key = key;
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSyntax& plane = syntax.planes[p];
    const PlaneGeometry& g = plane.geometry;
    for (int block = 0; block < g.blocks(); ++block) {
      std::int16_t* const levels = plane.block(block);
      for (int k = 0; k < 64; ++k) {
        if (random.below(64) >= density) continue;
        const int limit = std::min(largest, k == 0 ? 1023 : max_ac_magnitude(p));
        levels[k] = static_cast<std::int16_t>(
            static_cast<int>(random.below(static_cast<std::uint32_t>(2 * limit + 1))) - limit);
      }
      plane.uses_vector[static_cast<std::size_t>(block)] = key ? 0 : random.below(8) != 0;
      if (plane.uses_vector[static_cast<std::size_t>(block)] == 0) continue;
      MotionVector vector;
      do {
        const int reach = random.below(3) == 0 ? 127 : 2;
        vector.x =
            static_cast<std::int8_t>(static_cast<int>(random.below(static_cast<std::uint32_t>(2 * reach + 1))) - reach);
        vector.y =
            static_cast<std::int8_t>(static_cast<int>(random.below(static_cast<std::uint32_t>(2 * reach + 1))) - reach);
      } while (!vector_is_legal(block % g.columns, block / g.columns, g.width, g.height, vector.x, vector.y));
      plane.vectors[static_cast<std::size_t>(block)] = vector;
    }
  }
  return syntax;
}

}  // namespace c63::test
