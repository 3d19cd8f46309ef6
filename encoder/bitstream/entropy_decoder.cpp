#include "bitstream/entropy_decoder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "bitstream/bit_reader.h"
#include "bitstream/block_order.h"
#include "bitstream/vlc_table.h"
#include "c63/error.h"
#include "codec/search_window.h"

namespace c63 {
namespace {

constexpr char kPlaneNames[] = "YUV";

using Fault = ScanDecoder::Fault;

constexpr Fault kUnknownCode{"C63-CODE", "unknown code"};
constexpr Fault kAcOverrun{"C63-AC-INDEX", "coefficients run past index 63"};
constexpr Fault kDcOverflow{"C63-DC-OVERFLOW", "the DC sum exceeds 16 bits"};
constexpr Fault kReuseFirst{"C63-MV-REUSE", "reuse of the left vector in column 0"};
constexpr Fault kReuseIntra{"C63-MV-REUSE", "reuse of the vector of a block without a vector"};
constexpr Fault kVectorRange{"C63-MV-RANGE", "motion vector leaves the picture"};

/// The decoding tables of a plane.
struct Tables {
  const ValueTable& dc_values;
  const VlcTable& dc;
  const CoefficientPairs& coefficients;
  const VlcTable& ac;
};
constexpr Tables kLumaTables{kLumaValues, kDcLumaTable, kLumaPairs, kAcLumaTable};
constexpr Tables kChromaTables{kChromaValues, kDcChromaTable, kChromaPairs, kAcChromaTable};

/// Reads a size and the value after it, together at most 16 + 11 bits. Returns false if there is no such code.
[[gnu::always_inline]] inline bool take_value(BitReader& reader, const ValueTable& values, const VlcTable& sizes, int& value) {
  const ValueTable::Entry both = values.find(reader.peek(ValueTable::kBits));
  if (both.length != 0) [[likely]] {
    value = both.value;
    reader.skip(both.length);
    return true;
  }
  const VlcTable::Entry entry = sizes.find(reader.peek(16));
  if (entry.length == 0) return false;
  reader.skip(entry.length);
  if (entry.symbol == 0) {
    value = 0;
    return true;
  }
  value = value_from_bits(reader.peek(entry.symbol), entry.symbol);
  reader.skip(entry.symbol);
  return true;
}

[[gnu::always_inline]] inline const Fault* decode_motion(BitReader& reader, PlaneSyntax& plane, int block, int column,
                                                          int row, bool key) {
  const std::uint32_t flags = reader.peek(2);
  plane.uses_vector[block] = static_cast<std::uint8_t>(flags >> 1);
  MotionVector& vector = plane.vectors[block];
  if (flags < 2) {
    reader.skip(1);
    vector = {};
    return nullptr;
  }
  reader.skip(2);
  if (flags == 3) {
    if (column == 0) return &kReuseFirst;
    if (plane.uses_vector[block - 1] == 0) return &kReuseIntra;
    vector = plane.vectors[block - 1];
  } else {
    int x = 0;
    int y = 0;
    if (!take_value(reader, kLumaValues, kVectorTable, x) || !take_value(reader, kLumaValues, kVectorTable, y)) {
      return &kUnknownCode;
    }
    vector = {static_cast<std::int8_t>(x), static_cast<std::int8_t>(y)};
  }
  // Nothing is predicted in a key frame, so decoders read its vectors, if it has any, and ignore them.
  const PlaneGeometry& g = plane.geometry;
  if (!key && !vector_is_legal(column, row, g.width, g.height, vector.x, vector.y)) return &kVectorRange;
  return nullptr;
}

[[gnu::always_inline]] inline const Fault* decode_coefficients(BitReader& reader, const Tables& tables, int& dc,
                                                               std::int16_t levels[64]) {
  int difference = 0;
  if (!take_value(reader, tables.dc_values, tables.dc, difference)) return &kUnknownCode;
  dc += difference;
  if (dc < std::numeric_limits<std::int16_t>::min() || dc > std::numeric_limits<std::int16_t>::max()) {
    return &kDcOverflow;
  }
  std::fill_n(levels, 64, std::int16_t{0});
  levels[0] = static_cast<std::int16_t>(dc);
  for (int k = 1; k < 64;) {
    reader.refill();
    constexpr int kLooks = 5;  // refill() gives enough bits for this many look-ups
    static_assert(kLooks * CoefficientPairs::kBits <= BitReader::kRefilled);
    CoefficientPairs::Entry entry;
    int looks = 0;
    for (; looks < kLooks; ++looks) {
      entry = tables.coefficients.find(reader.peek(CoefficientPairs::kBits));
      const int next = k + entry.advance();
      if (next > 63) break;
      reader.skip(entry.length());
      levels[k + entry.run()] = entry.first();
      levels[next - 1] = entry.second();
      k = next;
    }
    if (looks == kLooks) continue;
    // The entry that was looked up last was not taken. There are three cases. Either it contains the end of block, and
    // the block is complete. Or the next code with its value is longer than kBits. Or the entry's last coefficient has
    // index 63 or lies outside of this block. In the last two cases, the next code is read by itself.
    if (entry.length() != 0 && entry.advance() == CoefficientPairs::kEnd && k + entry.run() < 63) {
      reader.skip(entry.length());
      levels[k + entry.run()] = entry.first();
      return nullptr;
    }
    reader.refill();
    const VlcTable::Entry one = tables.ac.find(reader.peek(16));
    if (one.length == 0) return &kUnknownCode;
    reader.skip(one.length);
    const int size = one.symbol & 15;
    if (size == 0) {
      if (one.symbol == kEndOfBlock) return nullptr;
      k += 16;
      if (k > 63) return &kAcOverrun;
      continue;
    }
    k += one.symbol >> 4;
    if (k > 63) {
      // A short code is skipped together with its value. If the scan ends within the value, that is then the reported
      // error.
      if (one.length + size <= CoefficientPairs::kBits) reader.skip(size);
      return &kAcOverrun;
    }
    levels[k++] = static_cast<std::int16_t>(value_from_bits(reader.peek(size), size));
    reader.skip(size);
  }
  return nullptr;
}

/// Returns the offset in the stuffed scan of byte `index` of the unstuffed scan.
std::size_t stuffed_offset(std::span<const std::uint8_t> scan, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < scan.size(); --index) at += scan[at] == 0xFF ? 2 : 1;
  return std::min(at, scan.size());
}

}  // namespace

ScanDecoder::ScanDecoder(const ParsedFrame& frame, std::vector<std::uint8_t>& scratch)
    : frame_(frame), bytes_(remove_stuffing(frame.scan, scratch)), reader_(bytes_) {}

std::int64_t ScanDecoder::offset_of(std::int64_t byte) const {
  return static_cast<std::int64_t>(frame_.scan_offset + stuffed_offset(frame_.scan, static_cast<std::size_t>(byte)));
}

void ScanDecoder::decode_row(FrameSyntax& syntax) {
  BitReader reader = reader_;
  std::array<int, kPlanes> dc = dc_;
  // Only after a block is it checked whether the scan has ended. So the zeros after the scan must be enough for one
  // whole block.
  static_assert(kMaxBlockBits / 8 + 2 * sizeof(std::uint64_t) <= kBitReaderPadding);
  const auto decode_block = [&](int p, const Tables& tables, int block, int column, int row) __attribute__((always_inline)) {
    PlaneSyntax& plane = syntax.planes[p];
    const std::int64_t start = reader.left();
    reader.refill();  // enough for the flags, a vector, and DC's size and value
    const Fault* fault = decode_motion(reader, plane, block, column, row, frame_.key);
    if (fault == nullptr) fault = decode_coefficients(reader, tables, dc[p], plane.block(block));
    if (fault != nullptr || reader.overrun()) [[unlikely]] {
      const BitReader end = reader;  // a copy, so that nobody takes the reader's address and it stays in registers
      fail(end, start, fault, plane, p, block);
    }
  };
  for_each_mcu_of_row(syntax.geometry, row_, [&](const Mcu& mcu) {
    for (int i = 0; i < 4; ++i) {
      decode_block(0, kLumaTables, mcu.luma[static_cast<std::size_t>(i)], 2 * mcu.column + i % 2, 2 * row_ + i / 2);
    }
    for (int p = 1; p < kPlanes; ++p) decode_block(p, kChromaTables, mcu.chroma, mcu.column, row_);
  });
  ++row_;
  reader_ = reader;
  dc_ = dc;
}

void ScanDecoder::fail(const BitReader& reader, std::int64_t bits_left, const Fault* fault, const PlaneSyntax& plane, int p,
                       int block) const {
  const std::string place = std::string(1, kPlaneNames[p]) + " block " + std::to_string(block % plane.geometry.columns) + "," +
                            std::to_string(block / plane.geometry.columns);
  if (reader.overrun()) {
    throw Error(ErrorKind::input, "C63-SCAN-MARKER", "the scan ends at a marker before the end of its last block",
                {.offset = static_cast<std::int64_t>(frame_.scan_offset + frame_.scan.size()), .block = place});
  }
  const std::int64_t start = 8 * static_cast<std::int64_t>(bytes_.size()) - bits_left;
  throw Error(ErrorKind::input, fault->id, fault->message, {.offset = offset_of(start / 8), .block = place});
}

void ScanDecoder::finish() const {
  // After the last block, only the rest of its last byte may follow. If the block ends with a whole byte, the encoder
  // may add one zero byte.
  const std::int64_t spare = reader_.left() >= 0 ? reader_.left() / 8 : 0;
  const std::int64_t next_byte = static_cast<std::int64_t>(bytes_.size()) - spare;
  if (spare > 1 || (spare == 1 && bytes_.back() != 0x00)) {
    throw Error(ErrorKind::input, "C63-SCAN-TRAILING", "the scan goes on after its last block; extra bytes: " + std::to_string(spare),
                {.offset = offset_of(next_byte)});
  }
}

void decode_scan(const ParsedFrame& frame, FrameSyntax& syntax, std::vector<std::uint8_t>& scratch) {
  ScanDecoder decoder(frame, scratch);
  syntax.key = frame.key;
  for (int row = 0; row < syntax.geometry.mcu_rows(); ++row) decoder.decode_row(syntax);
  decoder.finish();
}

}  // namespace c63
