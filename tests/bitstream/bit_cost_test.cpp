// Tests codec/bit_cost.h: the numbers of bits that it computes must be those that the entropy coder writes.

#include "codec/bit_cost.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "bitstream/block_order.h"
#include "bitstream/entropy_encoder.h"
#include "random_syntax.h"

namespace c63::test {
namespace {

/// Returns the bits of a frame's scan, computed as the sum of the lengths of its codes.
BitCounts cost_of(const FrameSyntax& syntax) {
  BitCounts bits;
  std::array<int, kPlanes> dc{};
  for_each_block_in_coding_order(syntax.geometry, [&](int p, int block, int column) {
    const PlaneSyntax& plane = syntax.planes[p];
    const auto b = static_cast<std::size_t>(block);
    int motion = kNoVectorBits;
    if (plane.uses_vector[b] != 0) {
      const bool reuse = column > 0 && plane.uses_vector[b - 1] != 0 && plane.vectors[b - 1] == plane.vectors[b];
      motion = kVectorFlagBits + (reuse ? 0 : vector_bits(plane.vectors[b].x, plane.vectors[b].y));
    }
    const std::int16_t* const levels = plane.block(block);
    int& previous = dc.at(static_cast<std::size_t>(p));
    int coefficients = dc_bits(levels[0] - previous, p);
    previous = levels[0];
    int last = 0;
    for (int k = 1; k < 64; ++k) {
      if (levels[k] == 0) continue;
      coefficients += ac_bits(p).level(k - last - 1, value_size(levels[k]));
      last = k;
    }
    if (last < 63) coefficients += ac_bits(p).end_of_block;
    bits.motion += static_cast<std::uint64_t>(motion);
    (p == 0 ? bits.luma : bits.chroma) += static_cast<std::uint64_t>(coefficients);
  });
  return bits;
}

TEST(BitCost, OfWholeFramesIsWhatTheEntropyCoderWrites) {
  std::uint64_t seed = 7000;
  for (const auto& [width, height] : {std::pair{16, 16}, {16, 80}, {80, 16}, {352, 288}}) {
    for (const bool key : {true, false}) {
      for (const std::uint32_t density : {0U, 1U, 3U, 6U, 64U}) {
        for (const int largest : {1, 5, 80, 2000}) {
          const FrameSyntax syntax = random_syntax(Geometry(width, height), key, density, largest, ++seed);
          std::vector<std::uint8_t> bytes;
          BitCounts written;
          encode_scan(syntax, bytes, written);
          const BitCounts cost = cost_of(syntax);
          EXPECT_EQ(cost.motion, written.motion);
          EXPECT_EQ(cost.luma, written.luma);
          EXPECT_EQ(cost.chroma, written.chroma);
        }
      }
    }
  }
}

TEST(BitCost, OfEveryVectorComponentAndDcDifference) {
  const auto bits = [](const std::array<VlcCode, 256>& codes, int value) {
    const int size = value_size(value);
    return codes[static_cast<std::size_t>(size)].length + size;
  };
  for (int value = -127; value <= 127; ++value) EXPECT_EQ(vector_component_bits(value), bits(kDcLumaCodes, value));
  for (int value = -2047; value <= 2047; ++value) {
    EXPECT_EQ(dc_bits(value, 0), bits(kDcLumaCodes, value));
    EXPECT_EQ(dc_bits(value, 1), bits(kDcChromaCodes, value));
    EXPECT_EQ(dc_bits(value, 2), bits(kDcChromaCodes, value));
  }
}

TEST(BitCost, OfEveryAcSymbol) {
  for (const int plane : {0, 1, 2}) {
    const auto& codes = plane == 0 ? kAcLumaCodes : kAcChromaCodes;
    for (int zeros = 0; zeros <= 62; ++zeros) {
      for (int size = 1; size <= (plane == 0 ? 9 : 10); ++size) {
        const int symbol = (zeros & 15) << 4 | size;
        EXPECT_EQ(ac_bits(plane).level(zeros, size),
                  (zeros >> 4) * codes[kZeroRunLength].length + codes[static_cast<std::size_t>(symbol)].length + size);
      }
    }
    EXPECT_EQ(ac_bits(plane).end_of_block, codes[kEndOfBlock].length);
  }
  EXPECT_EQ(kAcLumaBits.symbols[0x0A], AcBits::kNoCode);
  EXPECT_EQ(kAcLumaBits.symbols[0x10], AcBits::kNoCode);
}

}  // namespace
}  // namespace c63::test
