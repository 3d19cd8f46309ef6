#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bitstream/bit_reader.h"
#include "bitstream/bit_writer.h"
#include "bitstream/vlc_table.h"
#include "support/generators.h"

namespace c63::test {
namespace {

/// Reads and returns the next `count` (0..32) bits.
std::uint32_t take(BitReader& reader, int count) {
  if (count == 0) return 0;
  reader.refill();
  const std::uint32_t bits = reader.peek(count);
  reader.skip(count);
  return bits;
}

/// Writes bit fields (pairs of a value and its number of bits) in the simplest way, one bit at a time. Stuffing and the
/// end of the scan follow docs/bitstream.md. BitWriter must write the same bytes.
Bytes write_as_described(const std::vector<std::pair<std::uint32_t, int>>& fields) {
  std::vector<bool> bits;
  for (const auto& [value, count] : fields) {
    for (int i = count - 1; i >= 0; --i) bits.push_back((value >> i & 1U) != 0);
  }
  Bytes out;
  const auto put = [&](std::size_t first, std::size_t count) {
    unsigned byte = 0;
    for (std::size_t i = 0; i < 8; ++i) byte = byte << 1 | (i < count && bits[first + i] ? 1U : 0U);
    out.push_back(static_cast<std::uint8_t>(byte));
    if (byte == 0xFF) out.push_back(0);
  };
  std::size_t at = 0;
  for (; at + 8 <= bits.size(); at += 8) put(at, 8);
  bool last_32_are_zero = true;
  for (std::size_t i = bits.size() > 32 ? bits.size() - 32 : 0; i < bits.size(); ++i) last_32_are_zero &= !bits[i];
  if (!last_32_are_zero) put(at, bits.size() - at);  // even if no bits are left; then a whole zero byte is added
  return out;
}

Bytes write(const std::vector<std::pair<std::uint32_t, int>>& fields) {
  Bytes out;
  BitWriter writer(out);
  std::uint64_t total = 0;
  for (const auto& [value, count] : fields) {
    writer.reserve(32);
    writer.put(value, count);
    total += static_cast<std::uint64_t>(count);
  }
  EXPECT_EQ(writer.bits(), total);
  writer.finish();
  return out;
}

TEST(BitWriter, StuffsAndEndsLikeTheCourseEncoder) {
  const std::vector<std::pair<std::vector<std::pair<std::uint32_t, int>>, Bytes>> cases = {
      {{{0xFF, 8}, {0x12, 8}, {1, 1}}, {0xFF, 0x00, 0x12, 0x80}},
      {{{0xFFFFFFFF, 32}, {1, 1}}, {0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0x80}},
      // An unfinished byte is filled with zeros. If all bytes are whole, a zero byte is added.
      {{{0x5, 3}}, {0xA0}},
      {{{0x7F, 7}}, {0xFE}},
      {{{0x41, 8}}, {0x41, 0x00}},
      {{{0xFF, 8}}, {0xFF, 0x00, 0x00}},
      // After 32 zeros, unfinished bits are lost, and no byte is added.
      {{{0xC0, 8}, {0, 32}, {0, 3}}, {0xC0, 0, 0, 0, 0}},
      {{{0xC0, 8}, {0, 32}}, {0xC0, 0, 0, 0, 0}},
      {{{0xC1, 8}, {0, 31}}, {0xC1, 0, 0, 0, 0}},
      {{{0, 5}}, {}},
      {{}, {}}};
  for (const auto& [fields, bytes] : cases) EXPECT_EQ(write(fields), bytes);
}

TEST(BitWriter, StuffsAtEveryPlace) {
  constexpr std::size_t kBytes = 270;  // more than two of the pieces in which 0xFF is counted
  for (const std::size_t ones : {0U, 1U, 2U, 3U, 17U, 128U}) {
    for (std::size_t first = 0; first + ones <= kBytes; ++first) {
      std::vector<std::pair<std::uint32_t, int>> fields(kBytes, {0x5A, 8});
      for (std::size_t i = first; i < first + ones; ++i) fields[i].first = 0xFF;
      ASSERT_EQ(write(fields), write_as_described(fields)) << ones << " from byte " << first;
    }
  }
  for (const std::size_t distance : {1U, 2U, 8U, 127U, 128U}) {
    for (const int offset : {0, 1, 7}) {  // bits
      std::vector<std::pair<std::uint32_t, int>> fields = {{0, offset}};
      for (std::size_t i = 0; i < 2 * kBytes; ++i) fields.emplace_back(i % distance == 0 ? 0xFF : 0xFE, 8);
      ASSERT_EQ(write(fields), write_as_described(fields)) << distance << " " << offset;
    }
  }
}

TEST(BitCursor, KeepsTheSumOfCodesThatComeBetweenStores) {
  Random random(12);
  for (int round = 0; round < 2000; ++round) {
    Bytes out;
    BitWriter writer(out);
    std::vector<std::pair<std::uint32_t, int>> fields;
    for (int i = 0; i < 20; ++i) {
      writer.reserve(64);
      BitCursor cursor = writer.cursor();
      for (const int most : {26, 26, 4}) {
        const int length = static_cast<int>(random.below(static_cast<std::uint32_t>(most) + 1));
        const std::uint32_t bits = (random.below(4) == 0 ? ~0U : random.next()) & ((1U << length) - 1);
        const std::uint32_t left_out = random.below(8) == 0 ? 1 : 0;
        cursor.append(Code(bits, length).unless(left_out));
        if (left_out == 0) fields.emplace_back(bits, length);
      }
      cursor.store();
      ASSERT_LT(cursor.filled, 8U);
      writer.set_cursor(cursor);
    }
    writer.finish();
    ASSERT_EQ(out, write_as_described(fields));
  }
}

TEST(BitWriter, AppendsToWhatIsThere) {
  Bytes out = {1, 2, 3};
  BitWriter writer(out);
  writer.reserve(8);
  writer.put(0xAB, 8);
  writer.finish();
  EXPECT_EQ(out, (Bytes{1, 2, 3, 0xAB, 0}));
}

TEST(BitWriter, RandomFieldsAreWrittenAsDescribedAndReadBack) {
  Random random(11);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::pair<std::uint32_t, int>> fields;
    const std::uint32_t kind = random.below(3);  // noise, mostly ones, mostly zeros
    const std::uint32_t count = random.below(200);
    for (std::uint32_t i = 0; i < count; ++i) {
      const int bits = static_cast<int>(random.below(33));
      const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
      const std::uint32_t value = kind == 0              ? random.next()
                                  : kind == 1            ? ~(random.below(8) == 0 ? random.next() : 0)
                                  : random.below(9) == 0 ? 1
                                                         : 0;
      fields.emplace_back(static_cast<std::uint32_t>(value & mask), bits);
    }
    const Bytes written = write(fields);
    ASSERT_EQ(written, write_as_described(fields));

    Bytes memory;
    const std::span<const std::uint8_t> plain = remove_stuffing(written, memory);
    BitReader reader(plain);
    std::int64_t taken = 0;
    for (const auto& [value, bits] : fields) {
      ASSERT_EQ(take(reader, bits), value);
      taken += bits;
      ASSERT_EQ(reader.left(), static_cast<std::int64_t>(plain.size()) * 8 - taken);
    }
    ASSERT_EQ(reader.overrun(), reader.left() < -7);
    if (taken >= 32) {
      ASSERT_FALSE(reader.overrun());
    }
  }
}

TEST(BitReader, SuppliesZerosPastTheEndAndCountsThem) {
  Bytes bytes = {0xFF, 0xFF};
  bytes.resize(2 + kBitReaderPadding);
  BitReader reader{std::span(bytes).first(2)};
  reader.refill();
  EXPECT_EQ(reader.peek(32), 0xFFFF0000U);
  EXPECT_EQ(take(reader, 16), 0xFFFFU);
  EXPECT_EQ(take(reader, 7), 0U);
  EXPECT_FALSE(reader.overrun());
  EXPECT_EQ(take(reader, 1), 0U);
  EXPECT_TRUE(reader.overrun());
  constexpr int kMost = (kBitReaderPadding - 8) / 4;
  for (int i = 1; i < kMost; ++i) EXPECT_EQ(take(reader, 32), 0U);
  EXPECT_EQ(reader.left(), -8 - 32 * (kMost - 1));
}

TEST(BitReader, EmptyInput) {
  const Bytes padding(kBitReaderPadding);
  BitReader reader{std::span(padding).first(0)};
  EXPECT_EQ(reader.left(), 0);
  EXPECT_EQ(take(reader, 7), 0U);
  EXPECT_FALSE(reader.overrun());
}

TEST(RemoveStuffing, DropsTheByteAfterOnesWhateverItIs) {
  const auto plain = [](const Bytes& scan) {
    Bytes memory = {9, 9, 9};
    const std::span<const std::uint8_t> bytes = remove_stuffing(scan, memory);
    EXPECT_EQ(Bytes(bytes.data() + bytes.size(), bytes.data() + bytes.size() + kBitReaderPadding), Bytes(kBitReaderPadding));
    return Bytes(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(plain({}), Bytes{});
  EXPECT_EQ(plain({1, 2, 3}), (Bytes{1, 2, 3}));
  EXPECT_EQ(plain({0xFF, 0x00, 7}), (Bytes{0xFF, 7}));
  EXPECT_EQ(plain({0xFF, 0xD9, 7}), (Bytes{0xFF, 7}));
  EXPECT_EQ(plain({0xFF, 0x00, 0xFF, 0x00}), (Bytes{0xFF, 0xFF}));
  EXPECT_EQ(plain({7, 0xFF}), (Bytes{7, 0xFF}));
}

/// Looks up every sequence of 16 bits. A sequence that begins with a code must give that code, whatever its other bits
/// are. All other sequences must give nothing.
void expect_table(const VlcTable& table, const std::array<VlcCode, 256>& codes, int max_symbol = 255) {
  std::vector<int> expected(65536, -1);
  for (int symbol = 0; symbol <= max_symbol; ++symbol) {
    const VlcCode code = codes[static_cast<std::size_t>(symbol)];
    if (code.length == 0) continue;
    const unsigned first = static_cast<unsigned>(code.bits) << (16 - code.length);
    for (unsigned i = 0; i < 1U << (16 - code.length); ++i) expected[first + i] = symbol;
  }
  for (unsigned next = 0; next < 65536; ++next) {
    const VlcTable::Entry entry = table.find(next);
    if (expected[next] < 0) {
      ASSERT_EQ(entry.length, 0) << next;
    } else {
      ASSERT_EQ(entry.symbol, expected[next]) << next;
      ASSERT_EQ(entry.length, codes[entry.symbol].length) << next;
    }
  }
}

TEST(VlcTables, FindEveryCodeAndNothingElse) {
  expect_table(kDcLumaTable, kDcLumaCodes);
  expect_table(kDcChromaTable, kDcChromaCodes);
  expect_table(kAcLumaTable, kAcLumaCodes);
  expect_table(kAcChromaTable, kAcChromaCodes);
  expect_table(kVectorTable, kDcLumaCodes, 7);
}

/// Looks up every sequence of kBits bits. A sequence must give a coefficient (or the end of block) if it begins with
/// the complete code and value of the coefficient. All other sequences must give nothing.
void expect_coefficients(const CoefficientTable& table, const std::array<VlcCode, 256>& codes) {
  constexpr int kBits = CoefficientTable::kBits;
  std::vector<int> found(1U << kBits, 0);
  const auto expect = [&](std::uint32_t bits, int length, int run, int value) {
    const std::uint32_t first = bits << (kBits - length);
    for (std::uint32_t next = first; next < first + (1U << (kBits - length)); ++next) {
      const CoefficientTable::Entry entry = table.find(next);
      ASSERT_EQ(entry.length, length) << next;
      ASSERT_EQ(entry.run, run) << next;
      ASSERT_EQ(entry.value, value) << next;
      ++found[next];
    }
  };
  expect(codes[kEndOfBlock].bits, codes[kEndOfBlock].length, CoefficientTable::kEnd, 0);
  for (int symbol = 1; symbol < 256; ++symbol) {
    const VlcCode code = codes[static_cast<std::size_t>(symbol)];
    const int size = symbol & 15;
    if (code.length == 0 || size == 0 || code.length + size > kBits) continue;
    for (std::uint32_t bits = 0; bits < 1U << size; ++bits) {
      expect(static_cast<std::uint32_t>(code.bits) << size | bits, code.length + size, symbol >> 4, value_from_bits(bits, size));
    }
  }
  for (std::uint32_t next = 0; next < 1U << kBits; ++next) EXPECT_EQ(found[next], table.find(next).length != 0 ? 1 : 0) << next;
}

/// Compares one look-up of a pair with two look-ups of single codes, for every sequence of kBits bits. The pair must
/// have two codes if both fit in the sequence, and otherwise one.
void expect_pairs(const CoefficientPairs& pairs, const CoefficientTable& table) {
  constexpr int kBits = CoefficientPairs::kBits;
  int both = 0;
  for (std::uint32_t next = 0; next < 1U << kBits; ++next) {
    const CoefficientPairs::Entry pair = pairs.find(next);
    const CoefficientTable::Entry first = table.find(next);
    if (first.length == 0 || first.run == CoefficientTable::kEnd) {
      ASSERT_EQ(pair.length(), first.length) << next;
      ASSERT_EQ(pair.advance(), CoefficientPairs::kEnd) << next;
      ASSERT_EQ(pair.run(), 0) << next;
      ASSERT_EQ(pair.first(), 0) << next;
      continue;
    }
    ASSERT_EQ(pair.run(), first.run) << next;
    ASSERT_EQ(pair.first(), first.value) << next;
    // The second code begins after the first one, so fewer than kBits of its bits are known. It is looked up twice:
    // with zeros and with ones as the unknown bits. If the code fits in the known bits, both look-ups must give the
    // same.
    const int left = kBits - first.length;
    const std::uint32_t begin = next << first.length & ((1U << kBits) - 1);
    const CoefficientTable::Entry second = table.find(begin);
    const CoefficientTable::Entry other = table.find(begin | ((1U << first.length) - 1));
    if (second.length == 0 || second.length > left) {
      ASSERT_TRUE(other.length == 0 || other.length > left) << next;
      ASSERT_EQ(pair.length(), first.length) << next;
      ASSERT_EQ(pair.advance(), first.run + 1) << next;
      ASSERT_EQ(pair.second(), first.value) << next;
      continue;
    }
    ++both;
    ASSERT_EQ(pair.length(), first.length + second.length) << next;
    if (second.run == CoefficientTable::kEnd) {
      ASSERT_EQ(pair.advance(), CoefficientPairs::kEnd) << next;
    } else {
      ASSERT_EQ(pair.advance(), first.run + 1 + second.run + 1) << next;
      ASSERT_EQ(pair.second(), second.value) << next;
    }
  }
  EXPECT_GT(both, 500);
}

TEST(VlcTables, FindPairsOfShortCodes) {
  expect_pairs(kLumaPairs, kLumaCoefficients);
  expect_pairs(kChromaPairs, kChromaCoefficients);
}

TEST(VlcTables, FindShortCodesWithTheirValues) {
  expect_coefficients(kLumaCoefficients, kAcLumaCodes);
  expect_coefficients(kChromaCoefficients, kAcChromaCodes);
  for (const auto& [table, codes] : {std::pair(&kLumaValues, &kDcLumaCodes), {&kChromaValues, &kDcChromaCodes}}) {
    std::uint32_t short_codes = 0;
    for (int value = -127; value <= 127; ++value) {
      const int size = value_size(value);
      const VlcCode code = (*codes)[static_cast<std::size_t>(size)];
      const int length = code.length + size;
      if (length > ValueTable::kBits) continue;
      const std::uint32_t first = (static_cast<std::uint32_t>(code.bits) << size | value_bits(value, size)) << (ValueTable::kBits - length);
      for (std::uint32_t next = first; next < first + (1U << (ValueTable::kBits - length)); ++next, ++short_codes) {
        ASSERT_EQ(table->find(next).value, value) << next;
        ASSERT_EQ(table->find(next).length, length) << next;
      }
    }
    std::uint32_t found = 0;
    for (std::uint32_t next = 0; next < 1U << ValueTable::kBits; ++next) found += table->find(next).length != 0 ? 1 : 0;
    EXPECT_EQ(found, short_codes);
  }
}

}  // namespace
}  // namespace c63::test
