#pragma once

#include <array>
#include <cstdint>

#include "codec/host_device.h"
#include "codec/vlc.h"

namespace c63 {

/// Decodes a prefix code from the next bits. It has one table for short codes and one for long codes.
class VlcTable {
 public:
  struct Entry {
    std::uint8_t symbol = 0;
    std::uint8_t length = 0;  ///< 0: no code starts with these bits
  };

  constexpr explicit VlcTable(const std::array<VlcCode, 256>& codes, int max_symbol = 255) {
    for (int symbol = 0; symbol <= max_symbol; ++symbol) {
      const VlcCode code = codes[symbol];
      if (code.length == 0) continue;
      const Entry entry{static_cast<std::uint8_t>(symbol), code.length};
      if (code.length <= kShortBits) {
        const unsigned first = static_cast<unsigned>(code.bits) << (kShortBits - code.length);
        for (unsigned i = 0; i < 1U << (kShortBits - code.length); ++i) short_[first + i] = entry;
      } else {
        // Every code longer than kShortBits begins with six ones, so the ten bits after them are enough to look it up.
        const unsigned first = (static_cast<unsigned>(code.bits) << (kMaxCodeLength - code.length)) & kLongMask;
        for (unsigned i = 0; i < 1U << (kMaxCodeLength - code.length); ++i) long_[first + i] = entry;
      }
    }
  }

  /// Returns the entry for the next 16 bits. Its length is 0 if no code begins with them.
  [[nodiscard]] C63_HD constexpr Entry find(std::uint32_t next_16_bits) const {
    const Entry entry = short_[next_16_bits >> (kMaxCodeLength - kShortBits)];
    if (entry.length != 0) return entry;
    if (next_16_bits < (0xFFFFU & ~kLongMask)) return {};
    return long_[next_16_bits & kLongMask];
  }

 private:
  static constexpr int kShortBits = 9;
  static constexpr unsigned kLongMask = (1U << 10) - 1;  ///< the last ten of 16 bits; the first six are ones

  std::array<Entry, 1U << kShortBits> short_{};
  std::array<Entry, kLongMask + 1> long_{};
};

/// Decodes a number that is coded as its size and its value: a DC difference or a vector component. One look-up decodes
/// both, if the code of the size and the value together are short.
class ValueTable {
 public:
  static constexpr int kBits = 10;

  struct Entry {
    std::int8_t value = 0;
    std::uint8_t length = 0;  ///< bits of code and value; 0: more than kBits together, or no such code
  };

  constexpr explicit ValueTable(const std::array<VlcCode, 256>& codes) {
    for (int size = 0; size <= kMaxVectorSize; ++size) {
      const int length = codes[size].length + size;
      if (length > kBits) continue;
      for (std::uint32_t bits = 0; bits < 1U << size; ++bits) {
        const std::uint32_t first = (static_cast<std::uint32_t>(codes[size].bits) << size | bits) << (kBits - length);
        for (std::uint32_t i = 0; i < 1U << (kBits - length); ++i) {
          entries_[first + i] = {static_cast<std::int8_t>(value_from_bits(bits, size)), static_cast<std::uint8_t>(length)};
        }
      }
    }
  }

  [[nodiscard]] C63_HD constexpr Entry find(std::uint32_t next_bits) const { return entries_[next_bits]; }

 private:
  std::array<Entry, 1U << kBits> entries_{};
};

/// Decodes an AC coefficient by one look-up, if its code and value together are short. This is true for nearly all. An
/// entry is one word, so that one read gives everything: length, run and value, from the lowest bit up.
class CoefficientTable {
 public:
  static constexpr int kBits = 11;
  static constexpr int kEnd = 64;  ///< the run that means: end of block
  /// The run of entries whose bits do not begin with a short code. Like kEnd, it is so large that it leads past the end of
  /// a block. So one comparison finds both.
  static constexpr int kLong = 128;

  struct Entry {
    int value = 0;   ///< 0: the end of block, or no short code
    int run = 0;     ///< zeros before the coefficient
    int length = 0;  ///< bits of code and value; 0: no short code begins with these bits
  };

  constexpr explicit CoefficientTable(const std::array<VlcCode, 256>& codes) {
    words.fill(kLong << 8);
    fill(codes[kEndOfBlock], 0, 0, kEnd, 0);
    for (int run = 0; run < 16; ++run) {
      for (int size = 1; size <= 10; ++size) {
        const VlcCode code = codes[run << 4 | size];
        if (code.length == 0 || code.length + size > kBits) continue;
        for (std::uint32_t bits = 0; bits < 1U << size; ++bits) fill(code, bits, size, run, value_from_bits(bits, size));
      }
    }
  }

  [[nodiscard]] constexpr Entry find(std::uint32_t next_bits) const {
    const std::uint32_t word = words[next_bits];
    return {static_cast<std::int16_t>(word >> 16), static_cast<int>(word >> 8 & 255), static_cast<int>(word & 255)};
  }

  std::array<std::uint32_t, 1U << kBits> words{};

 private:
  constexpr void fill(const VlcCode& code, std::uint32_t bits, int size, int run, int value) {
    const int length = code.length + size;
    const std::uint32_t first = (static_cast<std::uint32_t>(code.bits) << size | bits) << (kBits - length);
    const auto word = static_cast<std::uint32_t>(length | run << 8) | static_cast<std::uint32_t>(value) << 16;
    for (std::uint32_t i = 0; i < 1U << (kBits - length); ++i) words[first + i] = word;
  }
};

/// Decodes two short coefficients in a row, or one coefficient and the end of block, by one look-up.
class CoefficientPairs {
 public:
  static constexpr int kBits = CoefficientTable::kBits;
  /// The advance() of entries that contain the end of block, or whose bits do not begin with a short code. The index of
  /// an AC coefficient plus kEnd is above 63, so a decoder's loop over a block ends there.
  static constexpr int kEnd = 63;

  /// All fields are in one number, which is read at once. If there is only one coefficient, second() equals first(): a
  /// decoder then writes the same level twice at the same place.
  class Entry {
   public:
    constexpr Entry() = default;
    constexpr Entry(int length, int run, int advance, int first, int second)
        : fields_(static_cast<std::uint32_t>(length | run << 6 | advance << 10) |
                  static_cast<std::uint32_t>(static_cast<std::uint8_t>(first)) << 16 |
                  static_cast<std::uint32_t>(static_cast<std::uint8_t>(second)) << 24) {}

    /// The number of bits of all codes and values in the entry. 0: no short code begins with these bits.
    [[nodiscard]] constexpr int length() const { return static_cast<int>(fields_ & 63U); }
    /// The number of zeros before the first coefficient.
    [[nodiscard]] constexpr int run() const { return static_cast<int>(fields_ >> 6 & 15U); }
    /// The number of coefficients that the entry covers, including the zeros before them; or kEnd.
    [[nodiscard]] constexpr int advance() const { return static_cast<int>(fields_ >> 10 & 63U); }
    [[nodiscard]] constexpr std::int16_t first() const { return static_cast<std::int8_t>(fields_ >> 16 & 0xFFU); }
    [[nodiscard]] constexpr std::int16_t second() const { return static_cast<std::int8_t>(fields_ >> 24); }

   private:
    std::uint32_t fields_ = kEnd << 10;
  };

  constexpr explicit CoefficientPairs(const CoefficientTable& table) {
    for (std::uint32_t bits = 0; bits < entries_.size(); ++bits) {
      const CoefficientTable::Entry one = table.find(bits);
      if (one.length == 0) continue;
      if (one.run == CoefficientTable::kEnd) {
        entries_[bits] = {one.length, 0, kEnd, 0, 0};
        continue;
      }
      // After the first code, fewer than kBits bits are known; the shift fills the others with zeros. A second code
      // that needs unknown bits is not used.
      const CoefficientTable::Entry next = table.find(bits << one.length & (entries_.size() - 1));
      const int length = one.length + next.length;
      if (next.length == 0 || length > kBits) {
        entries_[bits] = {one.length, one.run, one.run + 1, one.value, one.value};
      } else if (next.run == CoefficientTable::kEnd) {
        entries_[bits] = {length, one.run, kEnd, one.value, one.value};
      } else {
        entries_[bits] = {length, one.run, one.run + next.run + 2, one.value, next.value};
      }
    }
  }

  [[nodiscard]] constexpr Entry find(std::uint32_t next_bits) const { return entries_[next_bits]; }

 private:
  std::array<Entry, 1U << kBits> entries_{};
};

inline constexpr CoefficientTable kLumaCoefficients{kAcLumaCodes};
inline constexpr CoefficientTable kChromaCoefficients{kAcChromaCodes};
inline constexpr CoefficientPairs kLumaPairs{kLumaCoefficients};
inline constexpr CoefficientPairs kChromaPairs{kChromaCoefficients};
inline constexpr ValueTable kLumaValues{kDcLumaCodes};
inline constexpr ValueTable kChromaValues{kDcChromaCodes};
inline constexpr VlcTable kDcLumaTable{kDcLumaCodes};
inline constexpr VlcTable kDcChromaTable{kDcChromaCodes};
inline constexpr VlcTable kAcLumaTable{kAcLumaCodes};
inline constexpr VlcTable kAcChromaTable{kAcChromaCodes};
inline constexpr VlcTable kVectorTable{kDcLumaCodes, kMaxVectorSize};

}  // namespace c63
