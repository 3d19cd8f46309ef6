#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "codec/host_device.h"

namespace c63 {

/// One prefix code: the low `length` bits of `bits`. If `length` is 0, the symbol has no code.
struct VlcCode {
  std::uint16_t bits = 0;
  std::uint8_t length = 0;
};

inline constexpr int kMaxCodeLength = 16;
inline constexpr int kZeroRunLength = 0xF0;  ///< the symbol for sixteen zeros
inline constexpr int kEndOfBlock = 0x00;     ///< the symbol for: only zeros follow

/// A canonical prefix code as in a JPEG's DHT: the number of codes of each length, and the symbols in the order of
/// their codes.
template <std::size_t Symbols>
struct HuffmanSpec {
  std::array<std::uint8_t, 16> counts;
  std::array<std::uint8_t, Symbols> symbols;
};

inline constexpr HuffmanSpec<12> kDcLumaSpec = {{0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},
                                                {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
inline constexpr HuffmanSpec<12> kDcChromaSpec = {{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0},
                                                  {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};

namespace detail {

/// Returns all symbols of an AC table: the listed ones, then all others (run 0..15, size 1..10) in ascending order.
template <std::size_t Listed>
constexpr std::array<std::uint8_t, 162> complete_ac_symbols(const std::array<std::uint8_t, Listed>& listed) {
  std::array<std::uint8_t, 162> symbols{};
  std::array<bool, 256> used{};
  std::size_t n = 0;
  for (const std::uint8_t symbol : listed) {
    symbols[n++] = symbol;
    used[symbol] = true;
  }
  for (int run = 0; run < 16; ++run) {
    for (int size = 1; size <= 10; ++size) {
      const int symbol = run << 4 | size;
      if (!used[symbol]) symbols[n++] = static_cast<std::uint8_t>(symbol);
    }
  }
  return symbols;
}

}  // namespace detail

inline constexpr HuffmanSpec<162> kAcLumaSpec = {
    {0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
    detail::complete_ac_symbols(std::array<std::uint8_t, 37>{
        0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71, 0x14,
        0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72, 0x82})};
inline constexpr HuffmanSpec<162> kAcChromaSpec = {
    {0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
    detail::complete_ac_symbols(std::array<std::uint8_t, 43>{
        0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61,
        0x71, 0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33,
        0x52, 0xF0, 0x15, 0x62, 0x72, 0xD1, 0x0A, 0x16, 0x24, 0x34, 0xE1, 0x25, 0xF1})};

/// Returns the code of each symbol. Codes of the same length are consecutive numbers. The first code of a length is the
/// number after the last shorter code, with a 0 bit added for each further bit of length.
template <std::size_t Symbols>
constexpr std::array<VlcCode, 256> make_codes(const HuffmanSpec<Symbols>& spec) {
  std::array<VlcCode, 256> codes{};
  std::uint32_t code = 0;
  std::size_t n = 0;
  for (int length = 1; length <= kMaxCodeLength; ++length) {
    for (int i = 0; i < spec.counts[length - 1]; ++i) {
      codes[spec.symbols[n++]] = {static_cast<std::uint16_t>(code++), static_cast<std::uint8_t>(length)};
    }
    code <<= 1;
  }
  return codes;
}

inline constexpr std::array<VlcCode, 256> kDcLumaCodes = make_codes(kDcLumaSpec);
inline constexpr std::array<VlcCode, 256> kDcChromaCodes = make_codes(kDcChromaSpec);
/// In luma, the symbol of run 0 and size 10 has no code here. The course encoder writes it with the code of size 9
/// (`Q-AC10`), and its decoder rejects the right code. max_ac_magnitude() keeps levels below that size.
inline constexpr std::array<VlcCode, 256> kAcLumaCodes = [] {
  auto codes = make_codes(kAcLumaSpec);
  codes[0x0A] = {};
  return codes;
}();
inline constexpr std::array<VlcCode, 256> kAcChromaCodes = make_codes(kAcChromaSpec);

/// The largest size of a vector component. Sizes are coded like those of luma's DC differences.
inline constexpr int kMaxVectorSize = 7;

/// An upper bound of the bits of one block: flags and vector, DC, and 63 coefficients with the longest code and value.
inline constexpr int kMaxBlockBits = 2 + 2 * (5 + kMaxVectorSize) + (11 + 11) + 63 * (kMaxCodeLength + 10);

/// Returns the number of bits of |value|. This size is coded before the value.
[[nodiscard]] C63_HD constexpr int value_size(int value) {
  unsigned magnitude = static_cast<unsigned>(value < 0 ? -value : value);
#if defined(__CUDA_ARCH__)
  return 32 - __clz(static_cast<int>(magnitude));
#else
  return static_cast<int>(std::bit_width(magnitude));
#endif
}

/// Returns the `size` bits that are coded after the size. They are the value itself, or value-1 modulo 2^size if the
/// value is negative.
[[nodiscard]] C63_HD constexpr std::uint32_t value_bits(int value, int size) {
  return static_cast<std::uint32_t>(value < 0 ? value - 1 : value) & ((1U << size) - 1U);
}

/// Returns the value for which value_bits() gives `bits`.
[[nodiscard]] C63_HD constexpr int value_from_bits(std::uint32_t bits, int size) {
  if (size == 0) return 0;
  return bits < 1U << (size - 1) ? static_cast<int>(bits) - static_cast<int>((1U << size) - 1U)
                                 : static_cast<int>(bits);
}

}  // namespace c63
