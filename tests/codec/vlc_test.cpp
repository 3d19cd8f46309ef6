#include "codec/vlc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <set>

namespace c63::test {
namespace {

/// Checks a Huffman table: it has `Symbols` different symbols, and leaves `free_at_16_bits` of the 65,536 sequences of
/// 16 bits unused. A code of n bits uses 2^(16-n) of them. JPEG never uses the code that is all ones.
template <std::size_t Symbols>
void expect_spec(const HuffmanSpec<Symbols>& spec, int free_at_16_bits) {
  EXPECT_EQ(std::accumulate(spec.counts.begin(), spec.counts.end(), std::size_t{0}), Symbols);
  EXPECT_EQ(std::set<int>(spec.symbols.begin(), spec.symbols.end()).size(), Symbols);
  int used = 0;
  for (int length = 1; length <= 16; ++length) used += spec.counts[length - 1] << (16 - length);
  EXPECT_EQ(65536 - used, free_at_16_bits);
}

TEST(HuffmanSpecs, KraftSums) {
  expect_spec(kDcLumaSpec, 1 << (16 - 9));
  expect_spec(kDcChromaSpec, 1 << (16 - 11));
  expect_spec(kAcLumaSpec, 1);
  expect_spec(kAcChromaSpec, 1);
}

void expect_code(const std::array<VlcCode, 256>& codes, int symbol, unsigned bits, int length) {
  EXPECT_EQ(codes[symbol].bits, bits) << symbol;
  EXPECT_EQ(codes[symbol].length, length) << symbol;
}

TEST(Codes, AreThoseOfJpegAnnexK) {
  expect_code(kDcLumaCodes, 0, 0b00, 2);
  expect_code(kDcLumaCodes, 1, 0b010, 3);
  expect_code(kDcLumaCodes, 5, 0b110, 3);
  expect_code(kDcLumaCodes, 6, 0b1110, 4);
  expect_code(kDcLumaCodes, 7, 0b11110, 5);
  expect_code(kDcLumaCodes, 11, 0b111111110, 9);
  expect_code(kDcChromaCodes, 0, 0b00, 2);
  expect_code(kDcChromaCodes, 2, 0b10, 2);
  expect_code(kDcChromaCodes, 11, 0b11111111110, 11);
  expect_code(kAcLumaCodes, 0x00, 0b1010, 4);
  expect_code(kAcLumaCodes, 0x01, 0b00, 2);
  expect_code(kAcLumaCodes, 0x11, 0b1100, 4);
  expect_code(kAcLumaCodes, 0xF0, 0b11111111001, 11);
  expect_code(kAcLumaCodes, 0x33, 0xFF5, 12);
  expect_code(kAcLumaCodes, 0x82, 0x7FC0, 15);
  expect_code(kAcLumaCodes, 0x09, 0xFF82, 16);
  expect_code(kAcLumaCodes, 0xFA, 0xFFFE, 16);
  expect_code(kAcChromaCodes, 0x00, 0b00, 2);
  expect_code(kAcChromaCodes, 0xF0, 0b1111111010, 10);
  expect_code(kAcChromaCodes, 0x0A, 0xFF4, 12);
  expect_code(kAcChromaCodes, 0xFA, 0xFFFE, 16);
}

TEST(Codes, LumaSizeTenHasNone) {
  EXPECT_EQ(kAcLumaCodes[0x0A].length, 0);
  for (const VlcCode& code : kAcLumaCodes) EXPECT_NE(code.bits, 0xFF83);
  EXPECT_EQ(make_codes(kAcLumaSpec)[0x0A].bits, 0xFF83);
}

TEST(Values, RoundTripInAsManyBitsAsTheyNeed) {
  for (int value = -4095; value <= 4095; ++value) {
    const int size = value_size(value);
    EXPECT_TRUE(value == 0 ? size == 0 : (1 << (size - 1)) <= std::abs(value) && std::abs(value) < 1 << size);
    const std::uint32_t bits = value_bits(value, size);
    EXPECT_LT(bits, 1U << size);
    EXPECT_EQ(value_from_bits(bits, size), value);
    EXPECT_EQ(size > 0 && (bits >> (size - 1)) != 0, value > 0);
  }
}

/// Returns the most bits that the AC levels of a block can take, by trying all runs of zeros before every coefficient.
int most_ac_bits(const std::array<VlcCode, 256>& codes) {
  std::array<int, 64> most{};  // entry k: of all levels up to a coded level k
  for (int k = 1; k < 64; ++k) {
    for (int before = 0; before < k; ++before) {
      const int zeros = k - before - 1;
      for (int size = 1; size <= 10; ++size) {
        const VlcCode& code = codes[zeros % 16 << 4 | size];
        if (code.length == 0) continue;
        most[k] = std::max(most[k], most[before] + zeros / 16 * codes[kZeroRunLength].length + code.length + size);
      }
    }
  }
  int all = most[63];
  for (int k = 0; k < 63; ++k) all = std::max(all, most[k] + codes[kEndOfBlock].length);
  return all;
}

TEST(Codes, NoBlockHasMoreBitsThanTheBound) {
  const int motion = 2 + 2 * (5 + 7);
  EXPECT_EQ(motion + 9 + 11 + most_ac_bits(kAcLumaCodes), 1621);
  EXPECT_EQ(motion + 11 + 11 + most_ac_bits(kAcChromaCodes), 1434);
  EXPECT_EQ(kMaxBlockBits, 1686);
}

}  // namespace
}  // namespace c63::test
