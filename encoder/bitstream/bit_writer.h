#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace c63 {

/// A code of up to 26 bits with its length, as one number for tables of codes.
class Code {
 public:
  constexpr Code() = default;
  constexpr Code(std::uint32_t bits, int length) : word_(bits << 6 | static_cast<std::uint32_t>(length)) {}

  [[nodiscard]] constexpr std::uint32_t bits() const { return word_ >> 6; }
  [[nodiscard]] constexpr int length() const { return static_cast<int>(word_ & 63); }
  /// Returns the length in the low six bits, and other data in the bits above. The low six bits of a sum of such
  /// numbers are the sum of the lengths modulo 64. So lengths can be added without removing the data first.
  [[nodiscard]] constexpr std::uint32_t length_and_more() const { return word_; }
  /// Returns this code if `condition` is 0, and an empty code if it is 1, without a branch.
  [[nodiscard]] constexpr Code unless(std::uint32_t condition) const {
    Code code;
    code.word_ = word_ & (condition - 1);
    return code;
  }

 private:
  std::uint32_t word_ = 0;
};

/// The place in a buffer where the next bits will be written. Keep it in a local variable. Otherwise the compiler must
/// assume that every stored byte may change it, and cannot keep it in registers.
struct BitCursor {
  std::uint8_t* next = nullptr;
  std::uint64_t pending = 0;  ///< bits that are not yet stored, in the lowest places; higher bits are undefined
  std::uint32_t filled =
      0;  ///< number of pending bits modulo 64; append() may let it grow past 64

  /// Appends the low `count` bits of `bits`; all higher bits must be zero. At most 56 bits may be appended between two
  /// calls of store().
  [[gnu::always_inline]] inline void append(std::uint64_t bits, int count) {
    pending = pending << count | bits;
    filled += static_cast<std::uint32_t>(count);
  }
  [[gnu::always_inline]] inline void append(Code code) {
    pending = pending << code.length() | code.bits();
    filled += code.length_and_more();
  }
  /// Stores all whole bytes, followed by some undefined bytes; 0..7 bits remain pending. There is no branch: a CPU
  /// cannot predict how many whole bytes there are.
  [[gnu::always_inline]] inline void store() {
    std::uint64_t word = pending << (-filled & 63);
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    std::memcpy(next, &word, sizeof word);
    next += filled >> 3 & 7;
    filled &= 7;
  }
};

/// Appends the bits of one scan to a byte buffer, most significant first. finish() then puts a 0x00 after every 0xFF
/// byte.
///
/// put() does not check for room. The caller must call reserve() first; one call can make room for many calls of put().
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& out) : out_(out), start_(out.size()), cursor_{out.data() + start_} {}

  BitWriter(const BitWriter&) = delete;
  BitWriter& operator=(const BitWriter&) = delete;

  /// Makes room for at least `bits` more bits.
  void reserve(std::size_t bits) {
    const auto position = static_cast<std::size_t>(cursor_.next - out_.data());
    const std::size_t needed = position + bits / 8 + 16;
    if (needed <= out_.size()) return;
    out_.resize(2 * needed);
    cursor_.next = out_.data() + position;
  }

  /// Appends the low `count` bits (0..56) of `bits`; all higher bits must be zero.
  void put(std::uint64_t bits, int count) {
    cursor_.append(bits, count);
    cursor_.store();
  }

  /// Returns a copy of the write position, for loops that append many bits. Call store() on the copy and pass it to
  /// set_cursor() before the next reserve().
  [[nodiscard]] BitCursor cursor() const { return cursor_; }
  void set_cursor(const BitCursor& cursor) { cursor_ = cursor; }

  /// Returns the number of bits appended so far, without stuffing.
  [[nodiscard]] std::uint64_t bits() const {
    return static_cast<std::uint64_t>(cursor_.next - out_.data() - static_cast<std::ptrdiff_t>(start_)) * 8 +
           static_cast<std::uint64_t>(cursor_.filled);
  }

  /// Ends the scan as the course encoder does, and cuts the buffer to the bytes that were written. Let T be the last 32
  /// bits of the scan:
  ///  * If T = 0, the bits of the unfinished byte are dropped. At the marker, a decoder reads zeros instead.
  ///  * Otherwise the unfinished byte is filled with zeros. If no byte is unfinished, a 0x00 byte is added.
  void finish() {
    reserve(64);
    if (last_32_bits() != 0) *cursor_.next++ = static_cast<std::uint8_t>(cursor_.pending << (8 - cursor_.filled));
    cursor_.filled = 0;
    cursor_.pending = 0;
    out_.resize(static_cast<std::size_t>(cursor_.next - out_.data()));
    stuff();
  }

 private:
  [[nodiscard]] std::uint32_t last_32_bits() const {
    std::uint64_t history = 0;  // the last bytes, followed by the pending bits
    const std::uint8_t* const next = cursor_.next;
    const std::ptrdiff_t written = next - (out_.data() + start_);
    for (int i = written < 4 ? static_cast<int>(written) : 4; i > 0; --i) history = history << 8 | next[-i];
    const std::uint64_t unfinished = cursor_.pending & ((1U << cursor_.filled) - 1);
    return static_cast<std::uint32_t>(history << cursor_.filled | unfinished);
  }

  /// Returns the number of 0xFF bytes in the scan.
  [[nodiscard]] std::size_t bytes_of_ones() const {
    // The bytes of a scan are counted in pieces. A piece is so small that its count fits in a byte. So SIMD registers
    // can count in lanes of one byte.
    constexpr std::size_t kPiece = 128;
    std::size_t ones = 0;
    for (std::size_t first = start_; first < out_.size(); first += kPiece) {
      const std::uint8_t* const bytes = out_.data() + first;
      std::uint8_t of_piece = 0;
      if (out_.size() - first >= kPiece) {
        for (std::size_t i = 0; i < kPiece; ++i) of_piece += bytes[i] == 0xFF;
      } else {
        for (std::size_t i = 0; i < out_.size() - first; ++i) of_piece += bytes[i] == 0xFF;
      }
      ones += of_piece;
    }
    return ones;
  }

  /// Inserts the stuffing: a 0x00 after each 0xFF. First moves the whole scan up in memory, by the number of bytes that
  /// it will grow. Then moves it back in pieces that each end with a 0xFF, and adds a 0x00 to each piece.
  void stuff() {
    const std::size_t size = out_.size() - start_;
    const std::size_t growth = bytes_of_ones();
    if (growth == 0) return;
    out_.resize(start_ + size + growth);
    std::uint8_t* to = out_.data() + start_;
    std::uint8_t* from = to + growth;
    std::memmove(from, to, size);
    while (from != to) {  // while 0xFF bytes are left
      const auto left = static_cast<std::size_t>(out_.data() + out_.size() - from);
      const auto* const last = static_cast<const std::uint8_t*>(std::memchr(from, 0xFF, left));
      const auto count = static_cast<std::size_t>(last - from) + 1;
      std::memmove(to, from, count);
      from += count;
      to += count;
      *to++ = 0x00;
    }
  }

  std::vector<std::uint8_t>& out_;
  std::size_t start_;  ///< where the scan begins in out_
  BitCursor cursor_;
};

}  // namespace c63
