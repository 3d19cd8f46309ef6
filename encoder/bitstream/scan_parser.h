#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "bitstream/vlc_table.h"
#include "c63/motion.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "codec/search_window.h"
#include "codec/vlc.h"

// Entropy decoding in the form that one thread of a GPU runs. What a scan means is defined by ScanDecoder (entropy_decoder.h);
// this gives the same syntax elements, but of a fault it says only that there is one.

namespace c63 {

/// The entries of a CoefficientTable as words, each of which is read at once: length, run and value from the lowest bit on.
struct CoefficientWords {
  static constexpr int kLong = 128;  ///< the run where no short code begins: past the end of a block, as that of its end

  std::array<std::uint32_t, 1U << CoefficientTable::kBits> words{};

  constexpr explicit CoefficientWords(const CoefficientTable& table) {
    for (std::uint32_t bits = 0; bits < words.size(); ++bits) {
      const CoefficientTable::Entry& entry = table.find(bits);
      const auto run = static_cast<std::uint32_t>(entry.length != 0 ? entry.run : kLong);
      words[bits] = entry.length | run << 8 | static_cast<std::uint32_t>(entry.value) << 16;
    }
  }
};

/// The tables of all codes, in one piece that a GPU keeps in its fast memory; luma's come first.
struct ScanTables {
  std::array<CoefficientWords, 2> coefficients{CoefficientWords(kLumaCoefficients), CoefficientWords(kChromaCoefficients)};
  std::array<ValueTable, 2> values{kLumaValues, kChromaValues};
  std::array<VlcTable, 2> dc{kDcLumaTable, kDcChromaTable};
  std::array<VlcTable, 2> ac{kAcLumaTable, kAcChromaTable};
  VlcTable vector = kVectorTable;
};

/// The vector of a block that is coded without one; no code stands for -128.
[[nodiscard]] C63_HD constexpr MotionVector without_vector() { return {-128, -128}; }

/// Blocks of a picture: those of Y, then U, then V, each in raster order.
struct ScanShape {
  int mcu_columns = 0;
  int mcu_rows = 0;
  std::array<int, kPlanes> first_block{};

  ScanShape() = default;
  explicit ScanShape(const Geometry& geometry) : mcu_columns(geometry.mcu_columns()), mcu_rows(geometry.mcu_rows()) {
    for (int p = 1; p < kPlanes; ++p) first_block[p] = first_block[p - 1] + geometry.plane(p - 1).blocks();
  }
};

/// Where the syntax elements of a frame go, by the order of ScanShape.
struct ScanTarget {
  std::int16_t* levels = nullptr;   ///< 64 a block, zig-zag order; zero before
  MotionVector* vectors = nullptr;  ///< one a block
};

/// Bytes that have to follow a scan of `size` bytes, all of them zero: up to a whole word, and a word.
[[nodiscard]] constexpr std::size_t zeros_behind_scan(std::size_t size) { return (4 - size % 4) % 4 + 4; }

/// Reads the bits of a scan, most significant first. Words are loaded long before they are looked at, for a thread that has
/// nobody to wait with. Past the end it supplies zeros.
class WordReader {
 public:
  /// `bytes` are aligned to 4; zeros_behind_scan() follow them.
  C63_HD WordReader(const std::uint8_t* bytes, std::size_t size)
      : words_(bytes), count_(static_cast<std::uint32_t>((size + 3) / 4)) {
    current_ = in_order(load());
    following_ = in_order(load());
    ahead_ = load();
  }

  /// The next `count` (1..32) bits.
  [[nodiscard]] C63_HD std::uint32_t peek(int count) const {
#if defined(__CUDA_ARCH__)
    const std::uint32_t window = __funnelshift_l(following_, current_, static_cast<unsigned>(used_));
#else
    const auto window = static_cast<std::uint32_t>(((std::uint64_t{current_} << 32 | following_) << used_) >> 32);
#endif
    return window >> (32 - count);
  }

  /// Takes `count` (0..32) bits.
  C63_HD void skip(int count) {
    used_ += count;
    if (used_ < 32) return;
    used_ -= 32;
    current_ = following_;
    following_ = in_order(ahead_);
    ahead_ = load();
  }

  /// Bits taken, those past the end included.
  [[nodiscard]] C63_HD std::int64_t taken() const { return 32 * (static_cast<std::int64_t>(next_) - 3) + used_; }

 private:
  /// The next word as it lies in memory.
  [[nodiscard]] C63_HD std::uint32_t load() {
    const std::uint32_t at = next_ < count_ ? next_ : count_;
    ++next_;
#if defined(__CUDA_ARCH__)
    return __ldg(reinterpret_cast<const std::uint32_t*>(words_) + at);
#else
    std::uint32_t word = 0;
    std::memcpy(&word, words_ + std::size_t{at} * 4, 4);
    return word;
#endif
  }

  /// A word with its first byte on top. Not when it is loaded, for that would be waiting for it.
  [[nodiscard]] C63_HD static std::uint32_t in_order(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
    return __byte_perm(word, 0, 0x0123);
#else
    std::array<std::uint8_t, 4> b{};
    std::memcpy(b.data(), &word, 4);
    return static_cast<std::uint32_t>(b[0]) << 24 | static_cast<std::uint32_t>(b[1]) << 16 | static_cast<std::uint32_t>(b[2]) << 8 | b[3];
#endif
  }

  const std::uint8_t* words_;
  std::uint32_t count_;
  std::uint32_t next_ = 0;   ///< to load
  std::uint32_t current_;    ///< what bits are taken from
  std::uint32_t following_;
  std::uint32_t ahead_;      ///< on its way while the other two are used
  int used_ = 0;             ///< bits of current_, 0..31
};

namespace detail {

/// The vectors of the blocks to the left: of Y's two rows of an MCU, of U and of V. All in one register.
class LeftVectors {
 public:
  [[nodiscard]] C63_HD MotionVector get(int row) const {
    const auto both = static_cast<std::uint32_t>(packed_ >> (16 * row));
    return {static_cast<std::int8_t>(both & 0xFF), static_cast<std::int8_t>(both >> 8 & 0xFF)};
  }
  C63_HD void set(int row, MotionVector vector) {
    const auto both = static_cast<std::uint64_t>(static_cast<std::uint8_t>(vector.x)) |
                      static_cast<std::uint64_t>(static_cast<std::uint8_t>(vector.y)) << 8;
    packed_ = (packed_ & ~(std::uint64_t{0xFFFF} << (16 * row))) | both << (16 * row);
  }

 private:
  std::uint64_t packed_ = 0x8080'8080'8080'8080;  ///< none has a vector
};

/// A block of a plane, in blocks; sides of the plane in samples.
struct BlockInPlane {
  int column;
  int row;
  int width;
  int height;
};

C63_HD inline bool take_value(WordReader& reader, const ValueTable& values, const VlcTable& sizes, int& value) {
  const ValueTable::Entry both = values.find(reader.peek(ValueTable::kBits));
  if (both.length != 0) {
    value = both.value;
    reader.skip(both.length);
    return true;
  }
  const VlcTable::Entry entry = sizes.find(reader.peek(16));
  if (entry.length == 0) return false;
  reader.skip(entry.length);
  value = 0;
  if (entry.symbol == 0) return true;
  value = value_from_bits(reader.peek(entry.symbol), entry.symbol);
  reader.skip(entry.symbol);
  return true;
}

C63_HD inline bool parse_vector(const ScanTables& tables, WordReader& reader, bool key, const BlockInPlane& block,
                                MotionVector left, MotionVector& vector) {
  const std::uint32_t flags = reader.peek(2);
  vector = without_vector();
  if (flags < 2) {
    reader.skip(1);
    return true;
  }
  reader.skip(2);
  if (flags == 3) {
    if (left == without_vector()) return false;
    vector = left;
  } else {
    int x = 0;
    int y = 0;
    if (!take_value(reader, tables.values[0], tables.vector, x) || !take_value(reader, tables.values[0], tables.vector, y)) {
      return false;
    }
    vector = {static_cast<std::int8_t>(x), static_cast<std::int8_t>(y)};
  }
  return key || vector_is_legal(block.column, block.row, block.width, block.height, vector.x, vector.y);
}

template <int kKind>  // 0: luma, 1: chroma
C63_HD inline bool parse_levels(const ScanTables& tables, WordReader& reader, int& dc, std::int16_t* levels) {
  int difference = 0;
  if (!take_value(reader, tables.values[kKind], tables.dc[kKind], difference)) return false;
  dc += difference;
  if (dc < std::numeric_limits<std::int16_t>::min() || dc > std::numeric_limits<std::int16_t>::max()) return false;
  levels[0] = static_cast<std::int16_t>(dc);
  for (int k = 1; k < 64;) {
    const std::uint32_t both = tables.coefficients[kKind].words[reader.peek(CoefficientTable::kBits)];
    const auto run = static_cast<int>(both >> 8 & 0xFF);
    reader.skip(static_cast<int>(both & 0xFF));
    if (k + run <= 63) {  // one branch for nearly all
      k += run;
      levels[k++] = static_cast<std::int16_t>(both >> 16);
      continue;
    }
    if (run != CoefficientWords::kLong) return run == CoefficientTable::kEnd;
    const VlcTable::Entry entry = tables.ac[kKind].find(reader.peek(16));
    if (entry.length == 0) return false;
    reader.skip(entry.length);
    const int size = entry.symbol & 15;
    if (size == 0) {
      if (entry.symbol == kEndOfBlock) return true;
      k += 16;
      if (k > 63) return false;
      continue;
    }
    k += entry.symbol >> 4;
    if (k > 63) return false;
    levels[k++] = static_cast<std::int16_t>(value_from_bits(reader.peek(size), size));
    reader.skip(size);
  }
  return true;
}

}  // namespace detail

/// Parses a scan without stuffing: `size` bytes, aligned and followed by zeros as WordReader wants them. False where it has any fault; what is in `to` then
/// counts for nothing.
C63_HD inline bool parse_scan(const ScanTables& tables, const ScanShape& shape, bool key, const std::uint8_t* bytes,
                              std::size_t size, const ScanTarget& to) {
  WordReader reader(bytes, size);
  // The encoder may leave out up to seven zeros at the end.
  const std::int64_t most_bits = 8 * static_cast<std::int64_t>(size) + 7;
  const int luma_columns = 2 * shape.mcu_columns;
  const int luma_rows = 2 * shape.mcu_rows;
  int dc_y = 0;
  int dc_u = 0;
  int dc_v = 0;
  for (int row = 0; row < shape.mcu_rows; ++row) {
    detail::LeftVectors left;
    for (int column = 0; column < shape.mcu_columns; ++column) {
      for (int i = 0; i < 4; ++i) {
        const detail::BlockInPlane block{2 * column + (i & 1), 2 * row + (i >> 1), luma_columns * kBlockSize,
                                         luma_rows * kBlockSize};
        const int index = block.row * luma_columns + block.column;
        MotionVector vector;
        if (!detail::parse_vector(tables, reader, key, block, left.get(i >> 1), vector)) return false;
        left.set(i >> 1, vector);
        to.vectors[index] = vector;
        if (!detail::parse_levels<0>(tables, reader, dc_y, to.levels + static_cast<std::size_t>(index) * 64)) return false;
      }
      for (int p = 1; p < kPlanes; ++p) {
        const detail::BlockInPlane block{column, row, shape.mcu_columns * kBlockSize, shape.mcu_rows * kBlockSize};
        const int index = shape.first_block[p] + row * shape.mcu_columns + column;
        MotionVector vector;
        if (!detail::parse_vector(tables, reader, key, block, left.get(p + 1), vector)) return false;
        left.set(p + 1, vector);
        to.vectors[index] = vector;
        int dc = p == 1 ? dc_u : dc_v;
        if (!detail::parse_levels<1>(tables, reader, dc, to.levels + static_cast<std::size_t>(index) * 64)) return false;
        if (p == 1) {
          dc_u = dc;
        } else {
          dc_v = dc;
        }
      }
      if (reader.taken() > most_bits) return false;
    }
  }
  // What may follow: the rest of the last byte, and one zero byte where there is no such rest.
  const std::int64_t next_byte = (reader.taken() + 7) / 8;
  const std::int64_t spare = static_cast<std::int64_t>(size) - next_byte;
  return spare <= 0 || (spare == 1 && bytes[size - 1] == 0x00);
}

}  // namespace c63
