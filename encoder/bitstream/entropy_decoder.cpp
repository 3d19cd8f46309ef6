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

/// Faults a block can have; turned into an Error with its place outside the hot loop.
struct Fault {
  const char* id = nullptr;
  const char* message = nullptr;
};

constexpr Fault kUnknownCode{"C63-CODE", "unknown code"};
constexpr Fault kAcOverrun{"C63-AC-INDEX", "coefficients run past index 63"};
constexpr Fault kDcOverflow{"C63-DC-OVERFLOW", "the DC sum leaves 16 bits"};
constexpr Fault kReuseFirst{"C63-MV-REUSE", "reuse of the left vector in column 0"};
constexpr Fault kReuseIntra{"C63-MV-REUSE", "reuse of the vector of a block that has none"};
constexpr Fault kVectorRange{"C63-MV-RANGE", "motion vector leaves the picture"};

bool take_value(BitReader& reader, const VlcTable& table, int& value) {
  const VlcTable::Entry entry = table.find(reader.peek(16));
  if (entry.length == 0) return false;
  reader.skip(entry.length);
  value = value_from_bits(reader.take(entry.symbol), entry.symbol);
  return true;
}

const Fault* decode_motion(BitReader& reader, PlaneSyntax& plane, int block, int column, bool key) {
  plane.uses_vector[block] = static_cast<std::uint8_t>(reader.take(1));
  MotionVector& vector = plane.vectors[block];
  vector = {};
  if (plane.uses_vector[block] == 0) return nullptr;
  if (reader.take(1) != 0) {
    if (column == 0) return &kReuseFirst;
    if (plane.uses_vector[block - 1] == 0) return &kReuseIntra;
    vector = plane.vectors[block - 1];
  } else {
    int x = 0;
    int y = 0;
    if (!take_value(reader, kVectorTable, x) || !take_value(reader, kVectorTable, y)) return &kUnknownCode;
    vector = {static_cast<std::int8_t>(x), static_cast<std::int8_t>(y)};
  }
  // A key frame predicts from nothing: decoders read its vectors, if it has any, and forget them.
  const PlaneGeometry& g = plane.geometry;
  if (!key && !vector_is_legal(column, block / g.columns, g.width, g.height, vector.x, vector.y)) return &kVectorRange;
  return nullptr;
}

const Fault* decode_coefficients(BitReader& reader, const VlcTable& dc_table, const CoefficientTable& coefficients,
                                 const VlcTable& ac_table, int& dc, std::int16_t levels[64]) {
  int difference = 0;
  if (!take_value(reader, dc_table, difference)) return &kUnknownCode;
  dc += difference;
  if (dc < std::numeric_limits<std::int16_t>::min() || dc > std::numeric_limits<std::int16_t>::max()) {
    return &kDcOverflow;
  }
  std::fill_n(levels, 64, std::int16_t{0});
  levels[0] = static_cast<std::int16_t>(dc);
  for (int k = 1; k < 64;) {
    const std::uint32_t next = reader.peek(32);
    const CoefficientTable::Entry both = coefficients.find(next >> (32 - CoefficientTable::kBits));
    if (both.length != 0) [[likely]] {
      k += both.run;
      if (k > 63) {
        if (both.run != CoefficientTable::kEnd) return &kAcOverrun;
        reader.skip(both.length);
        return nullptr;
      }
      reader.skip(both.length);
      levels[k++] = both.value;
      continue;
    }
    const VlcTable::Entry entry = ac_table.find(next >> 16);
    if (entry.length == 0) return &kUnknownCode;
    const int size = entry.symbol & 15;
    if (size == 0) {
      reader.skip(entry.length);
      if (entry.symbol == kEndOfBlock) return nullptr;
      k += 16;
      if (k > 63) return &kAcOverrun;
      continue;
    }
    k += entry.symbol >> 4;
    if (k > 63) return &kAcOverrun;
    const std::uint32_t bits = next << entry.length >> (32 - size);
    reader.skip(entry.length + size);
    levels[k++] = static_cast<std::int16_t>(value_from_bits(bits, size));
  }
  return nullptr;
}

/// Offset in the stuffed scan of byte `index` of the scan without stuffing.
std::size_t stuffed_offset(std::span<const std::uint8_t> scan, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < scan.size(); --index) at += scan[at] == 0xFF ? 2 : 1;
  return std::min(at, scan.size());
}

}  // namespace

ScanDecoder::ScanDecoder(const ParsedFrame& frame, std::vector<std::uint8_t>& scratch)
    : frame_(frame), bytes_((remove_stuffing(frame.scan, scratch), scratch)), reader_(bytes_) {}

std::int64_t ScanDecoder::offset_of(std::int64_t byte) const {
  return static_cast<std::int64_t>(frame_.scan_offset + stuffed_offset(frame_.scan, static_cast<std::size_t>(byte)));
}

void ScanDecoder::decode_row(FrameSyntax& syntax) {
  BitReader reader = reader_;
  for_each_block_of_row_in_coding_order(syntax.geometry, row_++, [&](int p, int block, int column) {
    PlaneSyntax& plane = syntax.planes[p];
    const std::int64_t start = reader.consumed();
    const Fault* fault = decode_motion(reader, plane, block, column, frame_.key);
    if (fault == nullptr) {
      fault = decode_coefficients(reader, p == 0 ? kDcLumaTable : kDcChromaTable,
                                  p == 0 ? kLumaCoefficients : kChromaCoefficients,
                                  p == 0 ? kAcLumaTable : kAcChromaTable, dc_[p], plane.block(block));
    }
    if (fault == nullptr && !reader.overrun()) return;
    const std::string place = std::string(1, kPlaneNames[p]) + " block " + std::to_string(column) + "," +
                              std::to_string(block / plane.geometry.columns);
    if (reader.overrun()) {
      throw Error(ErrorKind::input, "C63-SCAN-MARKER", "the scan ends at a marker before its last block",
                  {.offset = static_cast<std::int64_t>(frame_.scan_offset + frame_.scan.size()), .block = place});
    }
    throw Error(ErrorKind::input, fault->id, fault->message, {.offset = offset_of(start / 8), .block = place});
  });
  reader_ = reader;
}

void ScanDecoder::finish() const {
  // What may follow: the rest of the last byte, and one zero byte where there is no such rest.
  const std::int64_t next_byte = (reader_.consumed() + 7) / 8;
  const std::int64_t spare = static_cast<std::int64_t>(bytes_.size()) - next_byte;
  if (spare > 1 || (spare == 1 && bytes_.back() != 0x00)) {
    throw Error(ErrorKind::input, "C63-SCAN-TRAILING", std::to_string(spare) + " bytes behind the last block of the scan",
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
