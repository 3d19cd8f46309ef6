#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace c63 {

/// Removes the stuffing of a scan: of each 0xFF and the byte after it, only the 0xFF stays. `to` must have room for the whole
/// scan. Returns the number of bytes left.
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

/// The number of zeros after the bytes that a BitReader reads: more than any block takes.
inline constexpr std::size_t kBitReaderPadding = 256;

/// Removes the stuffing of a scan and appends the zeros that a BitReader needs. Returns the bytes before those zeros.
[[nodiscard]] inline std::span<const std::uint8_t> remove_stuffing(std::span<const std::uint8_t> scan,
                                                                   std::vector<std::uint8_t>& out) {
  out.resize(scan.size() + kBitReaderPadding);
  const std::size_t size = remove_stuffing(scan, out.data());
  std::fill_n(out.data() + size, kBitReaderPadding, std::uint8_t{0});
  return {out.data(), size};
}

/// Reads the bits of one scan, most significant first, from bytes without stuffing. Past the end it supplies zeros, because the
/// course encoder may omit up to seven. overrun() tells whether more than that were taken.
class BitReader {
 public:
  static constexpr int kRefilled = 56;  ///< the fewest bits that are ready after refill()

  /// kBitReaderPadding zeros must follow `bytes`. The reader may pass the end by at most 8 bytes less than that.
  explicit BitReader(std::span<const std::uint8_t> bytes) : next_(bytes.data()), end_(next_ + bytes.size()) {}

  /// Makes at least kRefilled bits ready.
  void refill() {
    std::uint64_t bytes = 0;
    for (int i = 0; i < 8; ++i) bytes = bytes << 8 | next_[i];  // compilers turn it into one load and a byte swap
    window_ |= bytes >> valid_;
    // Only whole bytes count. The bits shifted in below them are loaded again next time, with equal values.
    next_ += (63 - valid_) >> 3;
    valid_ |= kRefilled;
  }

  /// The next `count` (1..32) bits, without taking them. peek() and skip() need a refill() before.
  [[nodiscard]] std::uint32_t peek(int count) const { return static_cast<std::uint32_t>(window_ >> (64 - count)); }

  void skip(int count) {
    window_ <<= count;
    valid_ -= count;
  }

  /// The number of bits left; negative past the end.
  [[nodiscard]] std::int64_t left() const { return 8 * (end_ - next_) + valid_; }
  /// Returns true if more zeros were taken past the end than an encoder omits.
  [[nodiscard]] bool overrun() const { return left() < -7; }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
  std::uint64_t window_ = 0;  ///< the next bits, starting at the top
  int valid_ = 0;             ///< how many of them are valid
};

}  // namespace c63
