#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace c63 {

/// Removes the stuffing of a scan: the 0x00 after each 0xFF. `to` must have room for the whole scan. Returns the number
/// of bytes that remain.
inline std::size_t remove_stuffing(std::span<const std::uint8_t> scan, std::uint8_t* to) {
  const std::uint8_t* in = scan.data();
  const std::uint8_t* const end = in + scan.size();
  const std::uint8_t* const start = to;
  while (in < end) {
    const auto left = static_cast<std::size_t>(end - in);
    const void* const found = std::memchr(in, 0xFF, left);
    const std::size_t run =
        found != nullptr ? static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - in) + 1 : left;
    std::memcpy(to, in, run);
    to += run;
    in += found != nullptr ? run + 1 : run;
  }
  return static_cast<std::size_t>(to - start);
}

/// The number of zero bytes that must follow the bytes that a BitReader reads. A block never has more bytes than this.
inline constexpr std::size_t kBitReaderPadding = 256;

/// Copies a scan without its stuffing to `out` and appends the zeros that a BitReader needs. Returns the copied bytes
/// in `out`, without the zeros.
[[nodiscard]] inline std::span<const std::uint8_t> remove_stuffing(std::span<const std::uint8_t> scan,
                                                                   std::vector<std::uint8_t>& out) {
  out.resize(scan.size() + kBitReaderPadding);
  const std::size_t size = remove_stuffing(scan, out.data());
  std::fill_n(out.data() + size, kBitReaderPadding, std::uint8_t{0});
  return {out.data(), size};
}

/// Reads the bits of one scan, most significant first, from bytes without stuffing. Past the end it returns zeros,
/// because the course encoder may omit up to seven zeros. overrun() returns true if more than seven were read.
class BitReader {
 public:
  static constexpr int kRefilled = 56;  ///< after refill(), at least this many bits can be read

  /// kBitReaderPadding zero bytes must follow `bytes`. The reader may read up to kBitReaderPadding - 8 bytes past the
  /// end.
  explicit BitReader(std::span<const std::uint8_t> bytes) : next_(bytes.data()), end_(next_ + bytes.size()) {}

  /// Loads bits, so that at least kRefilled bits can be read.
  void refill() {
    std::uint64_t bytes = 0;
    for (int i = 0; i < 8; ++i) bytes = bytes << 8 | next_[i];  // compilers make one load and a byte swap of it
    window_ |= bytes >> valid_;
    // Only whole bytes count as loaded. The window also has the first bits of the next byte. The next refill() loads
    // that byte again, so these bits stay the same.
    next_ += (63 - valid_) >> 3;
    valid_ |= kRefilled;
  }

  /// Returns the next `count` bits (1..32) without taking them. Call refill() before peek() and skip().
  [[nodiscard]] std::uint32_t peek(int count) const { return static_cast<std::uint32_t>(window_ >> (64 - count)); }

  void skip(int count) {
    window_ <<= count;
    valid_ -= count;
  }

  /// The number of bits left in the scan; negative past the end.
  [[nodiscard]] std::int64_t left() const { return 8 * (end_ - next_) + valid_; }
  /// Returns true if more zeros were read past the end than an encoder may omit.
  [[nodiscard]] bool overrun() const { return left() < -7; }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
  std::uint64_t window_ = 0;  ///< the next bits, in the highest places
  int valid_ = 0;             ///< number of bits in window_ that are loaded
};

}  // namespace c63
