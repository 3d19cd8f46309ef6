#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "bitstream/bit_writer.h"
#include "bitstream/frame_header.h"
#include "codec/vlc.h"
#include "support/generators.h"

namespace c63::test {

/// Positions in a frame that c63 wrote with all headers, in bytes from its start.
namespace layout {
inline constexpr std::size_t kDqt = 2;
inline constexpr std::size_t kDqtLength = 4;
inline constexpr std::size_t kDqtTables = 6;  ///< three tables: an id and 64 steps each
inline constexpr std::size_t kSof = 201;
inline constexpr std::size_t kSofLength = 203;
inline constexpr std::size_t kPrecision = 205;
inline constexpr std::size_t kHeight = 206;
inline constexpr std::size_t kWidth = 208;
inline constexpr std::size_t kKey = 220;
inline constexpr std::size_t kDht = 221;
inline constexpr std::size_t kDhtLength = 223;
inline constexpr std::size_t kSos = 641;
inline constexpr std::size_t kSosLength = 643;
inline constexpr std::size_t kScan = 655;
}  // namespace layout

/// Splits a valid stream into its frames, lets a test change their bytes, and joins them again.
class StreamEditor {
 public:
  explicit StreamEditor(std::span<const std::uint8_t> stream) {
    FrameParser parser;
    while (!stream.empty()) {
      const std::size_t size = parser.parse(stream).size;
      frames.emplace_back(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
      stream = stream.subspan(size);
    }
  }

  /// Returns where frame `index` begins in the stream, in bytes.
  [[nodiscard]] std::size_t offset(std::size_t index) const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < index; ++i) sum += frames.at(i).size();
    return sum;
  }
  void set(std::size_t frame, std::size_t at, std::uint8_t value) { frames.at(frame).at(at) = value; }
  void set_u16(std::size_t frame, std::size_t at, unsigned value) {
    set(frame, at, static_cast<std::uint8_t>(value >> 8));
    set(frame, at + 1, static_cast<std::uint8_t>(value));
  }
  void insert(std::size_t frame, std::size_t at, const Bytes& bytes) {
    Bytes& f = frames.at(frame);
    f.insert(f.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
  }
  /// Removes `count` bytes from a frame, beginning at byte `at`, and returns them.
  Bytes cut(std::size_t frame, std::size_t at, std::size_t count) {
    Bytes& f = frames.at(frame);
    if (at + count > f.size()) throw std::out_of_range("cut");
    const auto first = f.begin() + static_cast<std::ptrdiff_t>(at);
    Bytes removed(first, first + static_cast<std::ptrdiff_t>(count));
    f.erase(first, first + static_cast<std::ptrdiff_t>(count));
    return removed;
  }
  [[nodiscard]] Bytes bytes() const {
    Bytes all;
    for (const Bytes& frame : frames) all.insert(all.end(), frame.begin(), frame.end());
    return all;
  }

  std::vector<Bytes> frames;
};

/// Builds a scan from single codes. The scan may be invalid.
class ScanBuilder {
 public:
  ScanBuilder() : writer_(bytes_) {}

  ScanBuilder& bits(std::uint32_t value, int count) {
    writer_.reserve(64);
    writer_.put(value, count);
    return *this;
  }
  ScanBuilder& symbol(const std::array<VlcCode, 256>& codes, int symbol) {
    const VlcCode code = codes.at(static_cast<std::size_t>(symbol));
    return bits(code.bits, code.length);
  }
  ScanBuilder& value(const std::array<VlcCode, 256>& codes, int value) {
    const int size = value_size(value);
    symbol(codes, size);
    return size > 0 ? bits(value_bits(value, size), size) : *this;
  }
  ScanBuilder& intra() { return bits(0, 1); }
  ScanBuilder& reuse() { return bits(3, 2); }
  ScanBuilder& vector(int x, int y) { return bits(2, 2).value(kDcLumaCodes, x).value(kDcLumaCodes, y); }
  /// Writes an empty block: its DC difference is 0, and it has no AC levels.
  ScanBuilder& empty_luma() { return value(kDcLumaCodes, 0).symbol(kAcLumaCodes, kEndOfBlock); }
  ScanBuilder& empty_chroma() { return value(kDcChromaCodes, 0).symbol(kAcChromaCodes, kEndOfBlock); }
  /// Writes empty blocks without vectors, from block `first` of an MCU to before block `end` (0 to 3 are Y, 4 is U, 5
  /// is V).
  ScanBuilder& empty_blocks(int first = 0, int end = 6) {
    for (int block = first; block < end; ++block) block < 4 ? intra().empty_luma() : intra().empty_chroma();
    return *this;
  }

  /// Returns a frame with this scan. The scan ends as the course encoder would end it.
  [[nodiscard]] Bytes frame(int width, int height, bool key, int qp = 25) {
    writer_.finish();
    Bytes whole;
    write_frame_header(whole, Geometry(width, height), make_quantization_tables(qp), key);
    whole.insert(whole.end(), bytes_.begin(), bytes_.end());
    write_frame_trailer(whole);
    return whole;
  }

 private:
  Bytes bytes_;
  BitWriter writer_;
};

}  // namespace c63::test
