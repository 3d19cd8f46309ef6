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

/// Returns a code followed by the bits of a value.
constexpr Code with_value(const VlcCode& code, int value, int size) {
  return {static_cast<std::uint32_t>(code.bits) << size | value_bits(value, size), code.length + size};
}

/// The codes of DC differences and vector components: the code of the size, then the bits of the value. Small values
/// are in a table.
class ValueCodes {
 public:
  constexpr explicit ValueCodes(const std::array<VlcCode, 256>& codes) : codes_(codes) {
    for (int value = -kSmall; value < kSmall; ++value)
      entries_[static_cast<std::size_t>(value + kSmall)] = compose(value);
  }

  /// Returns the code of a value; at most 22 bits.
  [[nodiscard]] Code find(std::ptrdiff_t value) const {
    const auto index = static_cast<std::size_t>(value + kSmall);
    if (index < entries_.size()) [[likely]]
      return entries_[index];
    return compose(static_cast<int>(value));
  }
  /// Returns the code of a vector component; at most 12 bits.
  [[nodiscard]] Code find_component(std::int8_t value) const {
    return entries_[static_cast<std::size_t>(value + kSmall)];
  }

 private:
  static constexpr int kSmall = 128;  ///< the table has the values -128..127

  [[nodiscard]] constexpr Code compose(int value) const {
    const int size = value_size(value);
    return with_value(codes_[static_cast<std::size_t>(size)], value, size);
  }

  const std::array<VlcCode, 256>& codes_;
  std::array<Code, 2 * kSmall> entries_{};
};

/// The codes of AC levels, each together with up to 15 zeros before it. Small levels are in a table.
class AcCodes {
 public:
  constexpr explicit AcCodes(const std::array<VlcCode, 256>& codes) : codes_(codes) {
    for (int run = 0; run < 16; ++run) {
      for (int value = -kSmall; value < kSmall; ++value) {
        if (value != 0) entries_[static_cast<std::size_t>(run * 2 * kSmall + value + kSmall)] = compose(run, value);
      }
    }
  }

  /// Returns the code of `run` zeros (0..15) and a value; at most 26 bits.
  [[nodiscard]] Code find(std::size_t run, std::ptrdiff_t value) const {
    const auto column = static_cast<std::size_t>(value + kSmall);
    if (column < 2 * kSmall) [[likely]]
      return entries_[run * 2 * kSmall + column];
    return compose(static_cast<int>(run), static_cast<int>(value));
  }
  /// Returns the code of a symbol that has no value.
  [[nodiscard]] Code symbol(int symbol) const {
    const VlcCode code = codes_[static_cast<std::size_t>(symbol)];
    return {code.bits, code.length};
  }

 private:
  static constexpr int kSmall = 64;  ///< the table has the values -64..63

  [[nodiscard]] constexpr Code compose(int run, int value) const {
    const int size = value_size(value);
    return with_value(codes_[static_cast<std::size_t>(run << 4 | size)], value, size);
  }

  const std::array<VlcCode, 256>& codes_;
  std::array<Code, static_cast<std::size_t>(16 * 2 * kSmall)> entries_{};
};

constexpr ValueCodes kDcLuma(kDcLumaCodes);
constexpr ValueCodes kDcChroma(kDcChromaCodes);
constexpr AcCodes kAcLuma(kAcLumaCodes);
constexpr AcCodes kAcChroma(kAcChromaCodes);

/// Returns a mask with one bit for each of the levels 1..63 that is not zero. Bit 0 is zero.
std::uint64_t nonzero_mask(const std::int16_t levels[64]) {
#if defined(__SSE2__)
  const auto eight = [&](int k) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + k)); };
  std::uint64_t zeros = 1;
  for (int k = 0; k < 64; k += 16) {
    // _mm_packs_epi16() limits values to the range of a byte and does not cut off bits. So a value that is not zero
    // does not become zero.
    const __m128i bytes = _mm_packs_epi16(eight(k), eight(k + 8));
    const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
    zeros |= static_cast<std::uint64_t>(static_cast<unsigned>(mask)) << k;
  }
  return ~zeros;
#else
  std::uint64_t mask = 0;
  for (int k = 1; k < 64; ++k) mask |= static_cast<std::uint64_t>(levels[k] != 0) << k;
  return mask;
#endif
}

/// The vector of a block's left neighbour as one number, or kNoVector.
using LeftVector = std::uint32_t;
constexpr LeftVector kNoVector = 0x10000;

/// Appends a block's flags and vector; at most 26 bits. No branch tests whether the vector equals that of the left
/// neighbour, because the result is unpredictable.
[[gnu::always_inline]] inline void append_motion(BitCursor& cursor, const PlaneSyntax& plane, std::size_t block,
                                                 LeftVector& left) {
  if (plane.uses_vector[block] == 0) {
    cursor.append(0, 1);
    left = kNoVector;
    return;
  }
  const MotionVector vector = plane.vectors[block];
  const LeftVector number = std::bit_cast<std::uint16_t>(vector);
  const std::uint32_t reuse = number == left ? 1 : 0;
  left = number;
  cursor.append(0b10 | reuse, 2);
  cursor.append(kDcLuma.find_component(vector.x).unless(reuse));
  cursor.append(kDcLuma.find_component(vector.y).unless(reuse));
}

/// Appends a block's AC levels and stores all whole bytes. Since the last store(), at most 48 bits may have been
/// appended.
[[gnu::always_inline]] inline void append_ac(BitCursor& cursor, const AcCodes& codes, const std::int16_t levels[64]) {
  std::uint64_t mask = nonzero_mask(levels);
  std::size_t next = 1;  // index of the first level that is not yet coded
  const auto append_next = [&]() __attribute__((always_inline)) {
    const auto k = static_cast<std::size_t>(std::countr_zero(mask));
    mask &= mask - 1;
    std::size_t run = k - next;
    if (run >= 16) [[unlikely]] {
      cursor.store();
      for (; run >= 16; run -= 16) cursor.append(codes.symbol(kZeroRunLength));
      cursor.store();
    }
    next = k + 1;
    cursor.append(codes.find(run, levels[k]));
  };
  while (mask != 0) {  // two codes and the end of block take at most 56 bits: 2·26 + 4
    cursor.store();
    append_next();
    if (mask == 0) break;
    append_next();
  }
  if (next < 64) cursor.append(codes.symbol(kEndOfBlock));
  cursor.store();
}

/// Codes the blocks of one plane, in order.
class PlaneCoder {
 public:
  explicit PlaneCoder(const PlaneSyntax& plane) : plane_(plane) {}

  template <bool kLuma>
  [[gnu::always_inline]] inline void append(BitCursor& cursor, std::size_t block, LeftVector& left) {
    const std::uint32_t before = cursor.filled;
    append_motion(cursor, plane_, block, left);
    motion_bits_ += (cursor.filled - before) & 63;
    const std::int16_t* const levels = plane_.levels.data() + block * 64;
    const std::ptrdiff_t dc = levels[0];
    cursor.append((kLuma ? kDcLuma : kDcChroma).find(dc - dc_));
    dc_ = dc;
    append_ac(cursor, kLuma ? kAcLuma : kAcChroma, levels);
  }

  /// The bits of all flags and vectors so far.
  [[nodiscard]] std::uint64_t motion_bits() const { return motion_bits_; }

 private:
  const PlaneSyntax& plane_;
  std::ptrdiff_t dc_ = 0;  ///< DC level of the previous block
  std::uint64_t motion_bits_ = 0;
};

}  // namespace

void encode_scan(const FrameSyntax& syntax, std::vector<std::uint8_t>& out, BitCounts& bits) {
  const std::size_t start = out.size();
  BitWriter writer(out);
  PlaneCoder y(syntax.planes[0]);
  PlaneCoder u(syntax.planes[1]);
  PlaneCoder v(syntax.planes[2]);
  std::uint64_t y_bits = 0;
  LeftVector left_y[2] = {};
  LeftVector left_u = 0;
  LeftVector left_v = 0;
  for_each_mcu(syntax.geometry, [&](const Mcu& mcu) __attribute__((always_inline)) {
    if (mcu.column == 0) left_y[0] = left_y[1] = left_u = left_v = kNoVector;
    writer.reserve(kBlocksPerMcu * kMaxBlockBits);
    const std::uint64_t before = writer.bits();
    BitCursor cursor = writer.cursor();
    for (std::size_t i = 0; i < 4; ++i) y.append<true>(cursor, static_cast<std::size_t>(mcu.luma[i]), left_y[i / 2]);
    writer.set_cursor(cursor);
    y_bits += writer.bits() - before;
    u.append<false>(cursor, static_cast<std::size_t>(mcu.chroma), left_u);
    v.append<false>(cursor, static_cast<std::size_t>(mcu.chroma), left_v);
    writer.set_cursor(cursor);
  });
  const std::uint64_t coded = writer.bits();
  const std::uint64_t uv_motion = u.motion_bits() + v.motion_bits();
  bits.motion += y.motion_bits() + uv_motion;
  bits.luma += y_bits - y.motion_bits();
  bits.chroma += coded - y_bits - uv_motion;
  writer.finish();
  const std::uint64_t written = 8 * static_cast<std::uint64_t>(out.size() - start);
  bits.header += written > coded ? written - coded : 0;  // the end of the scan may drop up to seven bits
}

}  // namespace c63
