#include "bitstream/frame_header.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "c63/error.h"
#include "codec/vlc.h"

namespace c63 {
namespace {

enum Marker : std::uint8_t { kSoi = 0xD8, kDqt = 0xDB, kSof0 = 0xC0, kDht = 0xC4, kSos = 0xDA, kEoi = 0xD9 };

constexpr std::size_t kDqtPayload = 3 * 65;
constexpr std::size_t kSofPayload = 16;
constexpr std::size_t kMaxDhtPayload = 4 * (17 + 256);
constexpr std::size_t kSosPayload = 10;

void put_u16(std::vector<std::uint8_t>& out, unsigned value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

void put_marker(std::vector<std::uint8_t>& out, Marker marker) {
  out.push_back(0xFF);
  out.push_back(marker);
}

template <std::size_t Symbols>
void put_huffman_table(std::vector<std::uint8_t>& out, int id, const HuffmanSpec<Symbols>& spec) {
  out.push_back(static_cast<std::uint8_t>(id));
  out.insert(out.end(), spec.counts.begin(), spec.counts.end());
  out.insert(out.end(), spec.symbols.begin(), spec.symbols.end());
}

void put_dqt(std::vector<std::uint8_t>& out, const QuantizationTables& tables) {
  put_marker(out, kDqt);
  put_u16(out, kDqtPayload);  // the course codec's length does not include its own two bytes
  for (int i = 0; i < kPlanes; ++i) {
    out.push_back(static_cast<std::uint8_t>(i));
    out.insert(out.end(), tables[i].begin(), tables[i].end());
  }
}

void put_sof(std::vector<std::uint8_t>& out, const Geometry& geometry, bool key) {
  put_marker(out, kSof0);
  put_u16(out, kSofPayload + 2);
  out.push_back(8);  // bits per sample
  put_u16(out, static_cast<unsigned>(geometry.height()));
  put_u16(out, static_cast<unsigned>(geometry.width()));
  constexpr std::uint8_t kComponents[] = {3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 2};
  out.insert(out.end(), std::begin(kComponents), std::end(kComponents));
  out.push_back(key ? 1 : 0);
}

void put_dht(std::vector<std::uint8_t>& out) {
  put_marker(out, kDht);
  put_u16(out, 2 + 2 * (17 + 12) + 2 * (17 + 162));
  put_huffman_table(out, 0x00, kDcLumaSpec);
  put_huffman_table(out, 0x01, kDcChromaSpec);
  put_huffman_table(out, 0x10, kAcLumaSpec);
  put_huffman_table(out, 0x11, kAcChromaSpec);
}

void put_sos(std::vector<std::uint8_t>& out, bool with_components) {
  put_marker(out, kSos);
  put_u16(out, 2 + (with_components ? kSosPayload : 0));
  constexpr std::uint8_t kComponents[kSosPayload] = {3, 1, 0x00, 2, 0x11, 3, 0x11, 0x00, 0x3F, 0x00};
  if (with_components) out.insert(out.end(), std::begin(kComponents), std::end(kComponents));
}

std::string hex(unsigned value) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return {kDigits[value >> 4 & 15], kDigits[value & 15]};
}

/// Reads the segments of one frame. Keeps the offset of the next byte, for error messages.
class SegmentReader {
 public:
  explicit SegmentReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - offset_; }

  [[noreturn]] void fail(const char* id, const std::string& message, std::size_t offset) const {
    throw Error(ErrorKind::input, id, message, {.offset = static_cast<std::int64_t>(offset)});
  }
  [[noreturn]] void fail_truncated() const { fail("C63-TRUNCATED", "truncated", bytes_.size()); }

  void need(std::size_t count) const {
    if (left() < count) fail_truncated();
  }
  std::uint8_t u8() {
    need(1);
    return bytes_[offset_++];
  }
  unsigned u16() {
    need(2);
    const unsigned value = static_cast<unsigned>(bytes_[offset_]) << 8 | bytes_[offset_ + 1];
    offset_ += 2;
    return value;
  }
  std::span<const std::uint8_t> bytes(std::size_t count) {
    need(count);
    offset_ += count;
    return bytes_.subspan(offset_ - count, count);
  }
  void skip(std::size_t count) {
    need(count);
    offset_ += count;
  }
  /// Returns the bytes up to the next marker. Fails if there are more than `max_bytes`.
  std::span<const std::uint8_t> scan(std::uint64_t max_bytes) {
    const std::size_t start = offset_;
    const std::size_t reached = next_marker(bytes_, start);
    if (reached - start > max_bytes) {
      fail("C63-SCAN-TRAILING", "the scan is longer than its picture allows",
           start + static_cast<std::size_t>(max_bytes));
    }
    if (reached + 1 >= bytes_.size()) fail_truncated();
    offset_ = reached;
    return bytes_.subspan(start, reached - start);
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t offset_ = 0;
};

/// Reads a segment's length and returns the number of bytes that follow. The course codec writes lengths but does not
/// read them.
std::size_t segment_length(SegmentReader& in, const char* segment) {
  const std::size_t at = in.offset();
  const unsigned length = in.u16();
  if (length < 2) {
    in.fail("C63-SEGMENT-LENGTH", std::string(segment) + " length " + std::to_string(length) + " is below 2", at);
  }
  return length - 2;
}

QuantizationTables parse_dqt(SegmentReader& in) {
  const std::size_t at = in.offset();
  const std::size_t payload = segment_length(in, "DQT");
  // The course encoder writes a length that is two too small: 195 in place of 197. Both mean three tables.
  if (payload != kDqtPayload && payload != kDqtPayload - 2) {
    in.fail("C63-SEGMENT-LENGTH", "DQT length " + std::to_string(payload + 2) + " is neither 195 nor 197", at);
  }
  in.need(kDqtPayload);
  QuantizationTables tables{};
  unsigned seen = 0;
  for (int i = 0; i < kPlanes; ++i) {
    const std::uint8_t id = in.u8();
    if (id >= kPlanes || (seen >> id & 1U) != 0) {
      in.fail("C63-DQT-ID", "quantization table id " + std::to_string(id) + " is unknown or used twice", in.offset() - 1);
    }
    seen |= 1U << id;
    const std::size_t first = in.offset();
    const auto steps = in.bytes(tables[id].size());
    std::ranges::copy(steps, tables[id].begin());
    const auto zero = std::ranges::find(steps, 0);
    if (zero != steps.end()) {
      in.fail("C63-DQT-ZERO", "zero in a quantization table", first + static_cast<std::size_t>(zero - steps.begin()));
    }
  }
  return tables;
}

struct Sof {
  Geometry geometry;
  bool key = false;
};

/// Parses the SOF whose marker is at offset `at`. `expected` is the size of the previous frames. It is empty if there
/// are none.
Sof parse_sof(SegmentReader& in, std::size_t at, const std::optional<Geometry>& expected, const Limits& limits) {
  const std::size_t payload = segment_length(in, "SOF");
  if (payload != kSofPayload) {
    in.fail("C63-SEGMENT-LENGTH", "SOF length " + std::to_string(payload + 2) + " is not 18", at + 2);
  }
  in.need(kSofPayload);
  const unsigned bits = in.u8();
  if (bits != 8) in.fail("C63-PRECISION", std::to_string(bits) + " bits per sample; only 8 are supported", at + 4);
  const int height = static_cast<int>(in.u16());
  const int width = static_cast<int>(in.u16());
  const std::string size = std::to_string(width) + "x" + std::to_string(height);
  in.skip(10);
  const bool key = in.u8() != 0;
  if (width == 0 || height == 0) in.fail("C63-SIZE-ZERO", "picture size " + size, at + 5);
  if (!is_codable_area(width, height)) {
    in.fail("C63-SIZE-AREA", "picture size " + size + ": width times height is not a multiple of 4", at + 5);
  }
  const Geometry geometry(width, height);
  if (expected && !(*expected == geometry)) {
    in.fail("C63-SIZE-CHANGE",
            "picture size changes from " + std::to_string(expected->width()) + "x" + std::to_string(expected->height()) +
                " to " + size, at + 5);
  }
  if (static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) > limits.max_pixels) {
    throw Error(ErrorKind::limit, "C63-MAX-PIXELS",
                "picture size " + size + " exceeds the limit of " + std::to_string(limits.max_pixels) +
                    " pixels (--max-pixels)", {.offset = static_cast<std::int64_t>(at + 5)});
  }
  if (in.left() < smallest_scan(geometry)) in.fail_truncated();
  return {geometry, key};
}

/// Skips a DHT. Its content does not matter, because the codes are fixed.
void skip_dht(SegmentReader& in) {
  const std::size_t at = in.offset();
  const std::size_t payload = segment_length(in, "DHT");
  if (payload > kMaxDhtPayload) {
    in.fail("C63-SEGMENT-LENGTH", "DHT length " + std::to_string(payload + 2) + " is more than four tables need", at);
  }
  in.skip(payload);
}

/// Skips the list of components. Its content does not matter, because it is always the same.
void skip_sos(SegmentReader& in) {
  const std::size_t at = in.offset();
  const std::size_t payload = segment_length(in, "SOS");
  if (payload != kSosPayload && payload != 0) {
    in.fail("C63-SEGMENT-LENGTH", "SOS length " + std::to_string(payload + 2) + " is neither 12 nor 2", at);
  }
  in.skip(payload);
}

constexpr std::size_t kPiece = 256;

/// Returns true if one of the first kPiece bytes is a 0xFF that is not followed by 0x00. Reads kPiece + 1 bytes.
/// Compilers vectorize it.
bool has_marker(const std::uint8_t* bytes) {
  std::uint8_t any = 0;
  for (std::size_t i = 0; i < kPiece; ++i) any |= (bytes[i] == 0xFF) & (bytes[i + 1] != 0x00);
  return any != 0;
}

}  // namespace

std::size_t next_marker(std::span<const std::uint8_t> bytes, std::size_t from) {
  for (std::size_t at = from;;) {
    while (at + kPiece < bytes.size() && !has_marker(bytes.data() + at)) at += kPiece;
    const void* const found = at < bytes.size() ? std::memchr(bytes.data() + at, 0xFF, bytes.size() - at) : nullptr;
    if (found == nullptr) return bytes.size();
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
    if (at + 1 >= bytes.size() || bytes[at + 1] != 0x00) return at;
    at += 2;
  }
}

void write_frame_header(std::vector<std::uint8_t>& out, const Geometry& geometry, const QuantizationTables& tables,
                        bool key, const FrameHeaders& headers) {
  put_marker(out, kSoi);
  if (headers.quantization_tables) put_dqt(out, tables);
  if (headers.has_sof) put_sof(out, geometry, key);
  if (headers.code_tables) put_dht(out);
  put_sos(out, headers.scan_components);
}

void write_frame_trailer(std::vector<std::uint8_t>& out) { put_marker(out, kEoi); }

void write_repeat_frame(std::vector<std::uint8_t>& out) {
  put_marker(out, kSoi);
  put_marker(out, kEoi);
}

bool starts_like_stream(std::span<const std::uint8_t> bytes) {
  try {
    SegmentReader in(bytes);
    if (in.u16() != (0xFF00U | kSoi)) return false;
    for (;;) {
      unsigned marker = in.u16();
      if (marker >> 8 == 0x00) marker = (marker << 8 & 0xFF00U) | in.u8();  // one pad byte may precede a marker
      switch (marker) {
        case 0xFF00U | kDqt:
          static_cast<void>(parse_dqt(in));
          break;
        case 0xFF00U | kDht:
          skip_dht(in);
          break;
        case 0xFF00U | kSof0:
          return segment_length(in, "SOF") == kSofPayload;
        default:
          return false;
      }
    }
  } catch (const Error&) {
    return false;
  }
}

ParsedFrame FrameParser::parse(std::span<const std::uint8_t> bytes) {
  const bool first = !last_was_key_;
  SegmentReader in(bytes);
  if (in.u8() != 0xFF || (in.left() > 0 && bytes[1] != kSoi)) {
    in.fail("C63-NO-FRAME", first ? "not a c63 stream: it does not start with a frame (FF D8)"
                                  : "unknown bytes instead of the next frame (FF D8)", 0);
  }
  in.skip(1);

  ParsedFrame frame;
  std::optional<QuantizationTables> tables = tables_;
  bool is_empty = true;
  bool has_sof = false;
  bool has_scan = false;
  for (;;) {
    std::size_t at = in.offset();
    std::uint8_t lead = in.u8();
    if (lead == 0x00) {  // one pad byte may precede a marker
      at = in.offset();
      lead = in.u8();
    }
    if (lead != 0xFF) {
      in.fail(has_scan ? "C63-SCAN-TRAILING" : "C63-NO-MARKER", "byte " + hex(lead) + " instead of a marker", at);
    }
    const std::uint8_t marker = in.u8();
    if (marker == kEoi) {
      if (is_empty && first) in.fail("C63-REPEAT-FIRST", "the stream starts with a repeat frame, which needs a previous picture", at);
      if (!is_empty && !has_scan) in.fail("C63-NO-SCAN", "a frame has headers but no scan", at);
      break;
    }
    is_empty = false;
    switch (marker) {
      case kDqt:
        tables = parse_dqt(in);
        break;
      case kSof0: {
        if (has_sof) in.fail("C63-SOF-TWICE", "a second SOF in one frame", at);
        if (has_scan) in.fail("C63-SCAN-BEFORE-SOF", "SOF after the scan", at);
        const Sof sof = parse_sof(in, at, geometry_, limits_);
        frame.geometry = sof.geometry;
        frame.key = sof.key;
        has_sof = true;
        break;
      }
      case kDht:
        skip_dht(in);
        break;
      case kSos:
        if (has_scan) in.fail("C63-SCAN-TWICE", "a second scan in one frame", at);
        if (!has_sof) {
          if (first) in.fail("C63-NO-SOF", "the first frame of the stream has no SOF", at);
          if (*last_was_key_) {
            in.fail("C63-KEY-REPLACED", "a frame without SOF follows a key frame", at);
          }
          frame.geometry = *geometry_;
        }
        if (!tables) in.fail("C63-NO-DQT", "no quantization tables before the scan", at);
        skip_sos(in);
        frame.scan_offset = in.offset();
        frame.scan = in.scan(largest_scan(frame.geometry));
        has_scan = true;
        if (frame.scan.size() < smallest_scan(frame.geometry)) {
          in.fail("C63-SCAN-MARKER", "a marker cuts the scan short", in.offset());
        }
        break;
      case kSoi:
        in.fail("C63-SOI-TWICE", "a second SOI before the end of the frame", at);
      default:
        in.fail(has_scan ? "C63-SCAN-MARKER" : "C63-MARKER",
                std::string("unknown marker FF ") + hex(marker) + (has_scan ? " inside or after the scan" : ""), at);
    }
  }
  if (first && !frame.key) in.fail("C63-INTER-FIRST", "the stream starts with an inter frame, which has no reference", 0);
  frame.repeat = is_empty;
  frame.advances_reference = has_sof;
  frame.size = in.offset();
  if (frame.repeat) {
    frame.geometry = *geometry_;
  } else {
    geometry_ = frame.geometry;
    last_was_key_ = frame.key;
  }
  tables_ = tables;
  frame.tables = *tables;
  return frame;
}

}  // namespace c63
