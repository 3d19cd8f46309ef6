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

/// Bits that are put together.
struct Bits {
  std::uint64_t bits = 0;
  int length = 0;

  /// These bits, and `more` behind them.
  [[nodiscard]] constexpr Bits then(const Bits& more) const {
    return {bits << more.length | more.bits, length + more.length};
  }
};

/// The code of a value's size, and the value.
constexpr Bits value_code(const std::array<VlcCode, 256>& codes, int value) {
  const int size = value_size(value);
  const VlcCode code = codes[static_cast<std::size_t>(size)];
  return {static_cast<std::uint64_t>(code.bits) << size | value_bits(value, size), code.length + size};
}

/// The codes of all vector components, by their eight bits.
constexpr auto kVectorCodes = [] {
  std::array<Bits, 256> codes{};
  for (int value = -127; value <= 127; ++value) codes[static_cast<std::uint8_t>(value)] = value_code(kDcLumaCodes, value);
  return codes;
}();

/// At most 26 bits. Whether a vector is its left neighbour's is as good as random, so no branch depends on it.
Bits motion_code(const PlaneSymbols& plane, int block, int column) {
  if (plane.uses_vector[block] == 0) return {0, 1};
  const MotionVector vector = plane.vectors[block];
  const int left = block - (column > 0 ? 1 : 0);
  const bool reuse = (column > 0) & (plane.uses_vector[left] != 0) & (plane.vectors[left] == vector);
  const Bits whole = Bits{0b10, 2}
                         .then(kVectorCodes[static_cast<std::uint8_t>(vector.x)])
                         .then(kVectorCodes[static_cast<std::uint8_t>(vector.y)]);
  return {reuse ? 0b11 : whole.bits, reuse ? 2 : whole.length};
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
  static constexpr int kSmall = 16;  ///< values -16..15 are in the table

  constexpr explicit AcCodes(const std::array<VlcCode, 256>& codes) : codes_(codes) {
    for (int run = 0; run < 16; ++run) {
      for (int value = -kSmall; value < kSmall; ++value) {
        if (value == 0) continue;
        const Bits bits = compose(run, value);
        entries_[run * 2 * kSmall + value + kSmall] = {static_cast<std::uint32_t>(bits.bits),
                                                       static_cast<std::uint32_t>(bits.length)};
      }
    }
  }

  /// At most 26 bits.
  [[nodiscard]] Bits find(int run, int value) const {
    const auto column = static_cast<unsigned>(value + kSmall);
    if (column < 2 * kSmall) [[likely]] {
      const Entry entry = entries_[static_cast<unsigned>(run) * 2 * kSmall + column];
      return {entry.bits, static_cast<int>(entry.length)};
    }
    return compose(run, value);
  }
  [[nodiscard]] Bits code(int symbol) const {
    const VlcCode code = codes_[static_cast<std::size_t>(symbol)];
    return {code.bits, code.length};
  }

 private:
  struct Entry {
    std::uint32_t bits = 0;
    std::uint32_t length = 0;
  };

  [[nodiscard]] constexpr Bits compose(int run, int value) const {
    const int size = value_size(value);
    const VlcCode code = codes_[static_cast<std::size_t>(run << 4 | size)];
    return {static_cast<std::uint64_t>(code.bits) << size | value_bits(value, size), code.length + size};
  }

  const std::array<VlcCode, 256>& codes_;
  std::array<Entry, 16 * 2 * kSmall> entries_{};
};

constexpr AcCodes kAcLuma(kAcLumaCodes);
constexpr AcCodes kAcChroma(kAcChromaCodes);

[[gnu::always_inline]] inline void put(BitCursor& cursor, const Bits& bits) { cursor.put(bits.bits, bits.length); }

/// Puts the AC levels behind `head`, which has at most 30 bits.
[[gnu::always_inline]] inline void put_ac(BitCursor& cursor, Bits head, const AcCodes& codes,
                                          const std::int16_t levels[64]) {
  int next = 1;  // first level that is not yet coded
  std::uint64_t mask = nonzero_mask(levels) & ~std::uint64_t{1};
  const auto next_code = [&]() __attribute__((always_inline)) {
    const int k = std::countr_zero(mask);
    mask &= mask - 1;
    int run = k - next;
    if (run >= 16) [[unlikely]] {
      put(cursor, head);
      for (head = {}; run >= 16; run -= 16) put(cursor, codes.code(kZeroRunLength));
    }
    next = k + 1;
    return codes.find(run, levels[k]);
  };
  // Two codes at a time: the writer's state is what one put() waits for of another.
  while (mask != 0) {
    const Bits code = next_code();
    put(cursor, head.then(code));
    head = {};
    if (mask == 0) break;
    head = next_code();
  }
  put(cursor, next < 64 ? head.then(codes.code(kEndOfBlock)) : head);
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

    const Bits motion = motion_code(plane, block, column);
    const Bits dc_code = value_code(p == 0 ? kDcLumaCodes : kDcChromaCodes, levels[0] - dc[p]);
    dc[p] = levels[0];
    const std::uint64_t before = writer.bits();
    BitCursor cursor = writer.cursor();
    put(cursor, motion);
    put_ac(cursor, dc_code, p == 0 ? kAcLuma : kAcChroma, levels);
    writer.set_cursor(cursor);

    const std::uint64_t all = writer.bits() - before;
    const auto of_motion = static_cast<std::uint64_t>(motion.length);
    bits.motion += of_motion;
    (p == 0 ? bits.luma : bits.chroma) += all - of_motion;
    coded += all;
  });
  writer.finish();
  const std::uint64_t written = 8 * static_cast<std::uint64_t>(out.size() - start);
  bits.header += written > coded ? written - coded : 0;  // the flush may lose up to seven bits
}

}  // namespace c63
