#pragma once

#include <cstdint>

#include "codec/bit_cost.h"
#include "decide/beam.h"
#include "support/generators.h"

namespace c63::test {

/// A candidate with one of a few vectors (`vectors` values of x, two of y) or none, DC levels up to `level_reach`, and
/// costs below `reach` times `unit`. If `reach` is small, many costs are equal.
inline BeamCandidate random_candidate(Random& random, std::uint32_t reach, int level_reach = 20, std::uint32_t vectors = 3, Cost unit = 1) {
  BeamCandidate c;
  const MotionVector v{static_cast<std::int8_t>(random.below(vectors)), static_cast<std::int8_t>(-static_cast<int>(random.below(2)))};
  c.vector = random.below(4) == 0 ? kNoVector : vector_number(v);
  c.vector_bits = c.vector == kNoVector ? kNoVectorBits : kVectorFlagBits + vector_bits(v.x, v.y);
  for (std::size_t i = 0; i < kDcLevels; ++i) {
    c.levels[i] = static_cast<std::int16_t>(static_cast<int>(random.below(static_cast<std::uint32_t>(2 * level_reach + 1))) - level_reach);
    c.costs[i] = i > 0 && random.below(4) == 0 ? kInvalidCost : static_cast<Cost>(random.below(reach)) * unit;
  }
  return c;
}

}  // namespace c63::test
