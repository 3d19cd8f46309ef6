#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace c63 {

/// Appends the bits of one scan to a byte buffer, most significant first. finish() then puts a 0x00 after every 0xFF byte.
///
/// Room is claimed by reserve(), so that put() has no check of its own: a caller reserves for a whole block at a time.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& out) : out_(out), start_(out.size()), next_(out.data() + start_) {}

  BitWriter(const BitWriter&) = delete;
  BitWriter& operator=(const BitWriter&) = delete;

  /// Makes room for at least `bits` more bits.
  void reserve(std::size_t bits) {
    const auto position = static_cast<std::size_t>(next_ - out_.data());
    const std::size_t needed = position + bits / 8 + 16;
    if (needed <= out_.size()) return;
    out_.resize(needed + needed / 2);
    next_ = out_.data() + position;
  }

  /// Appends the low `count` bits (0..32); the others of `bits` must be zero. Without a branch: where a byte ends in the
  /// stream is as good as random.
  void put(std::uint32_t bits, int count) {
    pending_ |= static_cast<std::uint64_t>(bits) << ((64 - filled_ - count) & 63);  // 64 only where bits are 0
    filled_ += count;
    store(pending_);
    next_ += filled_ >> 3;
    pending_ <<= filled_ & ~7;
    filled_ &= 7;
  }

  /// Bits appended so far, without stuffing.
  [[nodiscard]] std::uint64_t bits() const {
    return static_cast<std::uint64_t>(next_ - out_.data() - static_cast<std::ptrdiff_t>(start_)) * 8 +
           static_cast<std::uint64_t>(filled_);
  }

  /// Ends the scan as the course encoder does, and cuts the buffer to what was written. Let T be the last 32 bits:
  ///  * T = 0: the bits of the unfinished byte are lost, on purpose (a decoder reads zeros at the marker instead);
  ///  * otherwise the unfinished byte is filled with zeros, and where there is none a whole 0x00 byte is added.
  void finish() {
    reserve(64);
    if (last_32_bits() != 0) *next_++ = static_cast<std::uint8_t>(pending_ >> 56);
    filled_ = 0;
    pending_ = 0;
    out_.resize(static_cast<std::size_t>(next_ - out_.data()));
    stuff();
  }

 private:
  void store(std::uint64_t word) {
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    std::memcpy(next_, &word, sizeof word);
  }

  [[nodiscard]] std::uint32_t last_32_bits() const {
    std::uint64_t history = 0;  // the last bytes, and what is pending behind them
    const std::uint8_t* const first = out_.data() + start_;
    for (int i = next_ - first < 4 ? static_cast<int>(next_ - first) : 4; i > 0; --i) history = history << 8 | next_[-i];
    return static_cast<std::uint32_t>(filled_ == 0 ? history : history << filled_ | pending_ >> (64 - filled_));
  }

  /// Spreads the bytes of the scan from the end on, so that there is room for a zero behind every 0xFF.
  void stuff() {
    std::size_t count = 0;
    for (std::size_t i = start_; i < out_.size(); ++i) count += out_[i] == 0xFF ? 1 : 0;
    std::size_t from = out_.size();
    out_.resize(from + count);
    std::size_t to = out_.size();
    while (to > from) {  // as long as a 0xFF lies ahead
      std::uint64_t eight;
      if (from >= start_ + 8) {
        std::memcpy(&eight, out_.data() + from - 8, sizeof eight);
        const std::uint64_t inverted = ~eight;
        if (((inverted - 0x0101010101010101U) & eight & 0x8080808080808080U) == 0) {
          from -= 8;
          to -= 8;
          std::memcpy(out_.data() + to, &eight, sizeof eight);
          continue;
        }
      }
      const std::uint8_t byte = out_[--from];
      if (byte == 0xFF) out_[--to] = 0x00;
      out_[--to] = byte;
    }
  }

  std::vector<std::uint8_t>& out_;
  std::size_t start_;           ///< of the scan in out_
  std::uint8_t* next_;          ///< in out_
  std::uint64_t pending_ = 0;   ///< the bits of the unfinished byte, from the top
  int filled_ = 0;              ///< how many they are: 0..7 between calls
};

}  // namespace c63
