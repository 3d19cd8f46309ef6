#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "bitstream/vlc_table.h"
#include "c63/motion_vector.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "codec/vlc.h"

// Entropy decoding, as one GPU thread does it for a whole scan. ScanDecoder (entropy_decoder.h) defines what a scan
// means. This parser gives the same syntax elements, but it does not say what is wrong with a faulty scan.

namespace c63 {

/// The entries of a ValueTable: the length in the low byte, the value in the high byte.
struct ValueWords {
  std::array<std::uint16_t, 1U << ValueTable::kBits> words{};

  explicit ValueWords(const ValueTable& table) {
    for (std::uint32_t bits = 0; bits < words.size(); ++bits) {
      const ValueTable::Entry entry = table.find(bits);
      words[bits] = static_cast<std::uint16_t>(entry.length | static_cast<std::uint8_t>(entry.value) << 8);
    }
  }
};

namespace detail {
/// Copies a table when the program runs. If a constant were copied directly, the compiler would store all values of the
/// copy in the program.
template <typename Table>
Table copy_of(const Table& table) {
  return table;
}
}  // namespace detail

/// The tables of all codes together, which a GPU keeps in its fast memory. Luma's tables come first.
struct ScanTables {
  std::array<CoefficientTable, 2> coefficients{detail::copy_of(kLumaCoefficients), detail::copy_of(kChromaCoefficients)};
  std::array<ValueWords, 2> values{ValueWords(kLumaValues), ValueWords(kChromaValues)};
  std::array<VlcTable, 2> dc{detail::copy_of(kDcLumaTable), detail::copy_of(kDcChromaTable)};
  std::array<VlcTable, 2> ac{detail::copy_of(kAcLumaTable), detail::copy_of(kAcChromaTable)};
  VlcTable vector = detail::copy_of(kVectorTable);
};

/// A vector as one number: x in the low byte, y in the high byte.
using PackedVector = std::uint16_t;
[[nodiscard]] C63_HD constexpr PackedVector pack_vector(int x, int y) {
  return static_cast<PackedVector>((x & 0xFF) | (y & 0xFF) << 8);
}
[[nodiscard]] C63_HD constexpr MotionVector unpack_vector(PackedVector vector) {
  return {static_cast<std::int8_t>(vector & 0xFF), static_cast<std::int8_t>(vector >> 8)};
}
/// The number for a block without a vector. It cannot be a vector, because no code gives -128.
inline constexpr PackedVector kWithoutVector = 0x8080;

/// The size of a picture in MCUs, and the index of each plane's first block. All blocks of Y come first, then U, then
/// V, each plane in raster order.
struct ScanShape {
  int mcu_columns = 0;
  int mcu_rows = 0;
  std::array<int, kPlanes> first_block{};

  ScanShape() = default;
  explicit ScanShape(const Geometry& geometry) : mcu_columns(geometry.mcu_columns()), mcu_rows(geometry.mcu_rows()) {
    for (int p = 1; p < kPlanes; ++p) first_block[p] = first_block[p - 1] + geometry.plane(p - 1).blocks();
  }
};

/// Where the syntax elements of a frame are written, with blocks in the order of ScanShape.
struct ScanTarget {
  std::int16_t* levels = nullptr;   ///< 64 for each block, in zig-zag order; must be zero before parsing
  PackedVector* vectors = nullptr;  ///< one per block
};

/// Returns the number of zero bytes that must follow a scan of `size` bytes: up to the next whole word, and one more
/// word.
[[nodiscard]] constexpr std::size_t zeros_after_scan(std::size_t size) { return (4 - size % 4) % 4 + 4; }

/// Reads the bits of a scan, most significant first. It loads each word long before it is used. Otherwise a GPU thread
/// that works alone would have to wait for each load. Past the end it returns zeros.
class WordReader {
 public:
  /// `bytes` must be aligned to 4 and followed by zeros_after_scan() zeros.
  C63_HD WordReader(const std::uint8_t* bytes, std::size_t size)
      : words_(bytes), count_(static_cast<std::uint32_t>((size + 3) / 4)) {
    current_ = in_order(load());
    following_ = in_order(load());
    ahead_ = load();
  }

  /// Returns the next `count` bits (1..32) without taking them.
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

  /// The number of bits taken so far, including those past the end.
  [[nodiscard]] C63_HD std::int64_t taken() const { return 32 * (static_cast<std::int64_t>(next_) - 3) + used_; }

 private:
  /// Loads the next word, in the byte order of memory.
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

  /// Returns the word with its first byte as the most significant one. It is called when the word is used. If it were
  /// called when the word is loaded, the thread would have to wait for the load.
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
  std::uint32_t next_ = 0;   ///< index of the next word to load
  std::uint32_t current_;    ///< the word from which bits are taken
  std::uint32_t following_;
  std::uint32_t ahead_;      ///< loaded ahead, while the other two words are used
  int used_ = 0;             ///< bits of current_ that were taken, 0..31
};

namespace detail {

C63_HD inline bool take_value(WordReader& reader, const ValueWords& values, const VlcTable& sizes, int& value) {
  const int both = values.words[reader.peek(ValueTable::kBits)];
  if ((both & 0xFF) != 0) {
    value = static_cast<std::int8_t>(both >> 8);
    reader.skip(both & 0xFF);
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

/// Parses the vector of the block at (x, y) of its plane. (last_x, last_y) is the position of the plane's last block.
/// `left` is the vector of the left neighbour; in the first column it is kWithoutVector.
C63_HD inline bool parse_vector(const ScanTables& tables, WordReader& reader, bool key, int x, int y, int last_x, int last_y,
                                PackedVector left, PackedVector& vector) {
  const std::uint32_t flags = reader.peek(2);
  vector = kWithoutVector;
  if (flags < 2) {
    reader.skip(1);
    return true;
  }
  reader.skip(2);
  if (flags == 3) {
    if (left == kWithoutVector) return false;
    vector = left;
  } else {
    int right = 0;
    int down = 0;
    if (!take_value(reader, tables.values[0], tables.vector, right)) return false;
    if (!take_value(reader, tables.values[0], tables.vector, down)) return false;
    vector = pack_vector(right, down);
  }
  const MotionVector by = unpack_vector(vector);
  // A negative position becomes a very large unsigned number. So one comparison checks both limits.
  const bool legal = static_cast<unsigned>(x + by.x) <= static_cast<unsigned>(last_x) &&
                     static_cast<unsigned>(y + by.y) <= static_cast<unsigned>(last_y);
  return key || legal;
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
    if (k + run <= 63) {  // in most cases the only branch
      k += run;
      levels[k++] = static_cast<std::int16_t>(both >> 16);
      continue;
    }
    if (run != CoefficientTable::kLong) return run == CoefficientTable::kEnd;
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

/// Parses a scan without stuffing. Its `size` bytes must be aligned and followed by zeros as WordReader needs them.
/// Returns false if the scan is faulty; the content of `to` is then undefined.
C63_HD inline bool parse_scan(const ScanTables& tables, const ScanShape& shape, bool key, const std::uint8_t* bytes,
                              std::size_t size, const ScanTarget& to) {
  WordReader reader(bytes, size);
  // The encoder may drop up to seven zeros at the end.
  const std::int64_t most_bits = 8 * static_cast<std::int64_t>(size) + 7;
  const int luma_columns = 2 * shape.mcu_columns;
  const int last_x = (shape.mcu_columns - 1) * kBlockSize;  // position of the last chroma block
  const int last_y = (shape.mcu_rows - 1) * kBlockSize;
  int dc_y = 0;
  int dc_u = 0;
  int dc_v = 0;
  for (int row = 0; row < shape.mcu_rows; ++row) {
    // The left neighbours' vectors: in the upper and the lower block row of Y in the MCU, in U, and in V.
    PackedVector left_above = kWithoutVector;
    PackedVector left_below = kWithoutVector;
    PackedVector left_u = kWithoutVector;
    PackedVector left_v = kWithoutVector;
    for (int column = 0; column < shape.mcu_columns; ++column) {
      for (int i = 0; i < 4; ++i) {
        const int block_column = 2 * column + (i & 1);
        const int block_row = 2 * row + (i >> 1);
        const int index = block_row * luma_columns + block_column;
        PackedVector vector;
        if (!detail::parse_vector(tables, reader, key, block_column * kBlockSize, block_row * kBlockSize,
                                  2 * last_x + kBlockSize, 2 * last_y + kBlockSize, i < 2 ? left_above : left_below, vector)) {
          return false;
        }
        (i < 2 ? left_above : left_below) = vector;
        to.vectors[index] = vector;
        if (!detail::parse_levels<0>(tables, reader, dc_y, to.levels + static_cast<std::size_t>(index) * 64)) return false;
      }
      for (int p = 1; p < kPlanes; ++p) {
        const int index = shape.first_block[p] + row * shape.mcu_columns + column;
        PackedVector vector;
        if (!detail::parse_vector(tables, reader, key, column * kBlockSize, row * kBlockSize, last_x, last_y,
                                  p == 1 ? left_u : left_v, vector)) {
          return false;
        }
        (p == 1 ? left_u : left_v) = vector;
        to.vectors[index] = vector;
        int dc = p == 1 ? dc_u : dc_v;  // a copy, because a reference would need an address
        if (!detail::parse_levels<1>(tables, reader, dc, to.levels + static_cast<std::size_t>(index) * 64)) return false;
        (p == 1 ? dc_u : dc_v) = dc;
      }
    }
    if (reader.taken() > most_bits) return false;
  }
  // After the last block, only the rest of its last byte may follow. If the block ends with a whole byte, the encoder
  // may add one zero byte.
  const std::int64_t next_byte = (reader.taken() + 7) / 8;
  const std::int64_t spare = static_cast<std::int64_t>(size) - next_byte;
  return spare <= 0 || (spare == 1 && bytes[size - 1] == 0x00);
}

}  // namespace c63
