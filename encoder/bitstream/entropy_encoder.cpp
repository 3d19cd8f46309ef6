#include "bitstream/entropy_encoder.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <bit>

#include "bitstream/bit_writer.h"
#include "bitstream/block_order.h"
#include "codec/vlc.h"

namespace c63 {
namespace {

/// Upper bound of the bits of one block: flags and vector, DC, 63 coefficients of the longest code and value.
constexpr std::size_t kMaxBlockBits = 2 + 2 * (5 + 7) + 9 + 11 + 63 * (16 + 10) + 16;

/// A symbol's code together with the value bits behind it, in one put().
void put_symbol(BitWriter& writer, const std::array<VlcCode, 256>& codes, int symbol, int value, int size) {
  const VlcCode code = codes[static_cast<std::size_t>(symbol)];
  writer.put(static_cast<std::uint32_t>(code.bits) << size | value_bits(value, size), code.length + size);
}

void put_value(BitWriter& writer, const std::array<VlcCode, 256>& codes, int value) {
  const int size = value_size(value);
  put_symbol(writer, codes, size, value, size);
}

void put_motion(BitWriter& writer, const PlaneSymbols& plane, int block, int column) {
  if (plane.uses_vector[block] == 0) {
    writer.put(0, 1);
    return;
  }
  const MotionVector vector = plane.vectors[block];
  const bool reuse = column > 0 && plane.uses_vector[block - 1] != 0 && plane.vectors[block - 1] == vector;
  writer.put(reuse ? 0b11 : 0b10, 2);
  if (reuse) return;
  put_value(writer, kDcLumaCodes, vector.x);
  put_value(writer, kDcLumaCodes, vector.y);
}

/// One bit for each of the 64 levels that is not zero, level 0 in bit 0.
std::uint64_t nonzero_mask(const std::int16_t levels[64]) {
#if defined(__SSE2__)
  const __m128i zero = _mm_setzero_si128();
  std::uint64_t zeros = 0;
  for (int k = 0; k < 64; k += 16) {
    const __m128i a = _mm_cmpeq_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + k)), zero);
    const __m128i b = _mm_cmpeq_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + k + 8)), zero);
    zeros |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(a, b)))) << k;
  }
  return ~zeros;
#else
  std::uint64_t mask = 0;
  for (int k = 0; k < 64; ++k) mask |= static_cast<std::uint64_t>(levels[k] != 0) << k;
  return mask;
#endif
}

/// The codes of an AC table with the bits of small values behind them.
class AcCodes {
 public:
  struct Entry {
    std::uint32_t bits = 0;
    std::uint32_t length = 0;
  };
  static constexpr int kSmall = 16;  ///< values -16..15 are in the table

  constexpr explicit AcCodes(const std::array<VlcCode, 256>& codes) : codes_(codes) {
    for (int run = 0; run < 16; ++run) {
      for (int value = -kSmall; value < kSmall; ++value) {
        if (value != 0) entries_[run * 2 * kSmall + value + kSmall] = compose(run, value);
      }
    }
  }

  [[nodiscard]] Entry find(int run, int value) const {
    const auto column = static_cast<unsigned>(value + kSmall);
    if (column < 2 * kSmall) [[likely]] return entries_[static_cast<unsigned>(run) * 2 * kSmall + column];
    return compose(run, value);
  }
  [[nodiscard]] const VlcCode& code(int symbol) const { return codes_[static_cast<std::size_t>(symbol)]; }

 private:
  [[nodiscard]] constexpr Entry compose(int run, int value) const {
    const int size = value_size(value);
    const VlcCode code = codes_[static_cast<std::size_t>(run << 4 | size)];
    return {static_cast<std::uint32_t>(code.bits) << size | value_bits(value, size),
            static_cast<std::uint32_t>(code.length + size)};
  }

  const std::array<VlcCode, 256>& codes_;
  std::array<Entry, 16 * 2 * kSmall> entries_{};
};

constexpr AcCodes kAcLuma(kAcLumaCodes);
constexpr AcCodes kAcChroma(kAcChromaCodes);

void put_code(BitWriter& writer, const VlcCode& code) { writer.put(code.bits, code.length); }

void put_ac(BitWriter& writer, const AcCodes& codes, const std::int16_t levels[64]) {
  int next = 1;  // first level that is not yet coded
  for (std::uint64_t mask = nonzero_mask(levels) & ~std::uint64_t{1}; mask != 0; mask &= mask - 1) {
    const int k = std::countr_zero(mask);
    int run = k - next;
    for (; run >= 16; run -= 16) put_code(writer, codes.code(kZeroRunLength));
    const AcCodes::Entry entry = codes.find(run, levels[k]);
    writer.put(entry.bits, static_cast<int>(entry.length));
    next = k + 1;
  }
  if (next < 64) put_code(writer, codes.code(kEndOfBlock));
}

}  // namespace

void encode_scan(const FrameSymbols& symbols, std::vector<std::uint8_t>& out, BitCounts& bits) {
  const std::size_t start = out.size();
  std::uint64_t coded = 0;
  BitWriter writer(out);
  std::array<int, kPlanes> dc{};
  for_each_block_in_coding_order(symbols.geometry, [&](int p, int block, int column) {
    const PlaneSymbols& plane = symbols.planes[p];
    const std::int16_t* levels = plane.block(block);
    writer.reserve(kMaxBlockBits);

    const std::uint64_t before = writer.bits();
    put_motion(writer, plane, block, column);
    const std::uint64_t after_motion = writer.bits();

    put_value(writer, p == 0 ? kDcLumaCodes : kDcChromaCodes, levels[0] - dc[p]);
    dc[p] = levels[0];
    put_ac(writer, p == 0 ? kAcLuma : kAcChroma, levels);

    bits.motion += after_motion - before;
    (p == 0 ? bits.luma : bits.chroma) += writer.bits() - after_motion;
    coded += writer.bits() - before;
  });
  writer.finish();
  const std::uint64_t written = 8 * static_cast<std::uint64_t>(out.size() - start);
  bits.header += written > coded ? written - coded : 0;  // the flush may lose up to seven bits
}

}  // namespace c63
