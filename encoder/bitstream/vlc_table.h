#pragma once

#include <array>
#include <cstdint>

#include "codec/vlc.h"

namespace c63 {

/// Decoding side of a prefix code: a table for the short codes and one for the long ones, both by the next bits.
class VlcTable {
 public:
  struct Entry {
    std::uint8_t symbol = 0;
    std::uint8_t length = 0;  ///< 0: no code starts like this
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
        // Every code longer than kShortBits starts with six ones, so the other bits tell them apart.
        const unsigned first = (static_cast<unsigned>(code.bits) << (kMaxCodeLength - code.length)) & kLongMask;
        for (unsigned i = 0; i < 1U << (kMaxCodeLength - code.length); ++i) long_[first + i] = entry;
      }
    }
  }

  /// The entry for the next 16 bits; length 0 where they start no code.
  [[nodiscard]] constexpr Entry find(std::uint32_t next_16_bits) const {
    const Entry entry = short_[next_16_bits >> (kMaxCodeLength - kShortBits)];
    if (entry.length != 0) return entry;
    if (next_16_bits < (0xFFFFU & ~kLongMask)) return {};
    return long_[next_16_bits & kLongMask];
  }

 private:
  static constexpr int kShortBits = 9;
  static constexpr unsigned kLongMask = (1U << 10) - 1;  ///< what is left of 16 bits behind the six

  std::array<Entry, 1U << kShortBits> short_{};
  std::array<Entry, kLongMask + 1> long_{};
};

inline constexpr VlcTable kDcLumaTable{kDcLumaCodes};
inline constexpr VlcTable kDcChromaTable{kDcChromaCodes};
inline constexpr VlcTable kAcLumaTable{kAcLumaCodes};
inline constexpr VlcTable kAcChromaTable{kAcChromaCodes};
inline constexpr VlcTable kVectorTable{kDcLumaCodes, kMaxVectorSize};

}  // namespace c63
