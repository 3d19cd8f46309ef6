// Tests codec/bit_cost.h with the lengths of the codes. entropy_test.cpp compares whole frames.

#include "codec/bit_cost.h"

#include <gtest/gtest.h>

#include <array>

namespace c63::test {
namespace {

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
