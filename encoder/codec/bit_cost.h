#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/host_device.h"
#include "codec/vlc.h"

// The cost of syntax elements in bits: the length of the code (vlc.h) plus the bits of the value after it.

namespace c63 {

// ---- flags and vectors

/// The bits of the flag of a block without a vector.
inline constexpr int kNoVectorBits = 1;
/// The bits of both flags of a block with a vector. If the vector is that of the left neighbour, there are no other
/// bits for it.
inline constexpr int kVectorFlagBits = 2;

/// Returns the bits of one component of a vector, -127..127. Sizes are coded like those of luma's DC differences.
[[nodiscard]] C63_HD constexpr int vector_component_bits(int value) {
  const int size = value_size(value);
  return size == 0 ? 2 : size < 6 ? 3 + size : 2 * size - 2;
}

/// Returns the bits of both components of a vector, without the flags.
[[nodiscard]] C63_HD constexpr int vector_bits(int x, int y) {
  return vector_component_bits(x) + vector_component_bits(y);
}

// ---- coefficients

/// Returns the bits of a DC difference, -2047..2047.
[[nodiscard]] C63_HD constexpr int dc_bits(int difference, int plane) {
  const int size = value_size(difference);
  if (plane != 0) return size < 2 ? 2 + size : 2 * size;
  return size == 0 ? 2 : size < 6 ? 3 + size : 2 * size - 2;
}

/// The numbers of bits that AC symbols take, for luma or for chroma. GPU kernels use their own copies of kAcLumaBits and
/// kAcChromaBits, in the GPU's memory.
struct AcBits {
  static constexpr std::uint8_t kNoCode = 255;

  /// The bits of code and value of each symbol, which is the index: run << 4 | size. kNoCode if the symbol has no code
  /// or no value.
  std::array<std::uint8_t, 256> symbols{};
  std::uint8_t zero_run = 0;                ///< bits of the code for sixteen zeros
  std::uint8_t end_of_block = 0;            ///< bits of the end of block, which is not coded after coefficient 63

  /// Returns the bits of a level of `size` bits after `zeros` zeros, 0..62.
  [[nodiscard]] C63_HD constexpr int level(int zeros, int size) const {
    return (zeros >> 4) * zero_run + symbols[static_cast<std::size_t>((zeros & 15) << 4 | size)];
  }
};

[[nodiscard]] constexpr AcBits make_ac_bits(const std::array<VlcCode, 256>& codes) {
  AcBits bits;
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    const std::size_t size = symbol & 15;
    const std::size_t length = codes[symbol].length;
    bits.symbols[symbol] = length == 0 || size == 0 ? AcBits::kNoCode : static_cast<std::uint8_t>(length + size);
  }
  bits.zero_run = codes[kZeroRunLength].length;
  bits.end_of_block = codes[kEndOfBlock].length;
  return bits;
}

inline constexpr AcBits kAcLumaBits = make_ac_bits(kAcLumaCodes);
inline constexpr AcBits kAcChromaBits = make_ac_bits(kAcChromaCodes);

/// The costs for a plane; for host code only.
[[nodiscard]] constexpr const AcBits& ac_bits(int plane) { return plane == 0 ? kAcLumaBits : kAcChromaBits; }

}  // namespace c63
