#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace c63 {

/// Appends the bits of one scan to a byte buffer, most significant first, with a 0x00 after every 0xFF byte.
///
/// Room is claimed by reserve(), so that put() has no check of its own: a caller reserves for a whole block at a time.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& out) : out_(out), position_(out.size()) {}

  BitWriter(const BitWriter&) = delete;
  BitWriter& operator=(const BitWriter&) = delete;

  /// Makes room for at least `bits` more bits, stuffing included.
  void reserve(std::size_t bits) {
    const std::size_t needed = position_ + bits / 4 + 16;
    if (needed > out_.size()) out_.resize(needed + needed / 2);
  }

  /// Appends the low `count` bits (0..32); the others of `bits` must be zero.
  void put(std::uint32_t bits, int count) {
    history_ = history_ << count | bits;
    pending_ += count;
    total_ += static_cast<std::uint64_t>(count);
    if (pending_ >= 32) {
      pending_ -= 32;
      put_word(static_cast<std::uint32_t>(history_ >> pending_));
    }
  }

  /// Bits appended so far, without stuffing.
  [[nodiscard]] std::uint64_t bits() const { return total_; }

  /// Ends the scan as the course encoder does, and cuts the buffer to what was written. Let T be the last 32 bits:
  ///  * T = 0: the bits of the unfinished byte are lost, on purpose (a decoder reads zeros at the marker instead);
  ///  * otherwise the unfinished byte is filled with zeros, and where there is none a whole 0x00 byte is added.
  void finish() {
    reserve(64);
    while (pending_ >= 8) {
      pending_ -= 8;
      put_byte(static_cast<std::uint8_t>(history_ >> pending_));
    }
    const auto last_32_bits = static_cast<std::uint32_t>(history_);
    if (last_32_bits != 0) put_byte(static_cast<std::uint8_t>(history_ << (8 - pending_)));
    pending_ = 0;
    out_.resize(position_);
  }

 private:
  void put_word(std::uint32_t word) {
    const std::uint32_t inverted = ~word;
    const bool has_ff = ((inverted - 0x01010101U) & word & 0x80808080U) != 0;
    if (has_ff) {
      for (int shift = 24; shift >= 0; shift -= 8) put_byte(static_cast<std::uint8_t>(word >> shift));
      return;
    }
    std::uint8_t* out = out_.data() + position_;
    out[0] = static_cast<std::uint8_t>(word >> 24);
    out[1] = static_cast<std::uint8_t>(word >> 16);
    out[2] = static_cast<std::uint8_t>(word >> 8);
    out[3] = static_cast<std::uint8_t>(word);
    position_ += 4;
  }

  void put_byte(std::uint8_t byte) {
    out_[position_++] = byte;
    if (byte == 0xFF) out_[position_++] = 0x00;
  }

  std::vector<std::uint8_t>& out_;
  std::size_t position_;
  std::uint64_t history_ = 0;  ///< the last 64 bits, of which `pending_` are not yet in the buffer
  int pending_ = 0;            ///< 0..31 between calls
  std::uint64_t total_ = 0;
};

}  // namespace c63
