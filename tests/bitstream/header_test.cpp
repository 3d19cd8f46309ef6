#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "bitstream/frame_header.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/stream_editor.h"

namespace c63::test {
namespace {

TEST(FrameHeader, SidesTakeSixteenBits) {
  Bytes h;
  write_frame_header(h, Geometry(65535, 65532), make_quantization_tables(25), true);
  EXPECT_EQ(h[layout::kHeight], 0xFF);
  EXPECT_EQ(h[layout::kHeight + 1], 0xFC);
  EXPECT_EQ(h[layout::kWidth], 0xFF);
  EXPECT_EQ(h[layout::kWidth + 1], 0xFF);
}

/// Returns the header `full`, without those segments whose flag in `headers` is false.
Bytes without_segments(const Bytes& full, const FrameHeaders& headers) {
  const auto slice = [&](std::size_t first, std::size_t end) {
    return std::span(full).subspan(first, end - first);
  };
  Bytes h;
  const auto append = [&](std::span<const std::uint8_t> bytes) { h.insert(h.end(), bytes.begin(), bytes.end()); };
  append(slice(0, layout::kDqt));
  if (headers.quantization_tables) append(slice(layout::kDqt, layout::kSof));
  if (headers.has_sof) append(slice(layout::kSof, layout::kDht));
  if (headers.code_tables) append(slice(layout::kDht, layout::kSos));
  if (headers.scan_components) {
    append(slice(layout::kSos, layout::kScan));
  } else {
    append(Bytes{0xFF, 0xDA, 0x00, 0x02});
  }
  return h;
}

/// All combinations of segments.
std::vector<FrameHeaders> all_frame_headers() {
  std::vector<FrameHeaders> all;
  for (unsigned i = 0; i < 16; ++i) all.push_back({(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0});
  return all;
}

TEST(FrameHeader, HasTheSegmentsThatAreAskedFor) {
  const QuantizationTables tables = make_quantization_tables(13);
  Bytes full;
  write_frame_header(full, Geometry(64, 48), tables, true);
  for (const FrameHeaders& headers : all_frame_headers()) {
    Bytes h(3, 0x77);  // the header must be appended after these bytes
    write_frame_header(h, Geometry(64, 48), tables, true, headers);
    EXPECT_EQ(h.size(), 3 + frame_header_bytes(headers));
    Bytes expected(3, 0x77);
    const Bytes segments = without_segments(full, headers);
    expected.insert(expected.end(), segments.begin(), segments.end());
    EXPECT_EQ(h, expected);
  }
  EXPECT_EQ(frame_header_bytes({}), 655U);
  EXPECT_EQ(frame_header_bytes({.quantization_tables = false, .code_tables = false, .scan_components = false}), 26U);
  EXPECT_EQ(frame_header_bytes({.quantization_tables = false, .has_sof = false, .code_tables = false, .scan_components = false}), 6U);
}

TEST(FrameParser, ReadsAnySegments) {
  ScanBuilder blocks;
  const Bytes whole = blocks.empty_blocks().frame(12, 8, true, 25);
  const std::span<const std::uint8_t> scan(whole.data() + layout::kScan, whole.size() - layout::kScan);  // includes EOI
  for (const FrameHeaders& headers : all_frame_headers()) {
    for (const bool key : {true, false}) {
      if (key && !headers.has_sof) continue;
      FrameParser parser;
      ASSERT_TRUE(parser.parse(whole).key);
      Bytes inter = whole;
      inter[layout::kKey] = 0;
      ASSERT_FALSE(parser.parse(inter).key);  // an inter frame, which must precede a frame without SOF

      Bytes frame;
      write_frame_header(frame, Geometry(12, 8), make_quantization_tables(10), key, headers);
      frame.insert(frame.end(), scan.begin(), scan.end());
      frame.push_back(0xFF);  // start of the next frame
      const ParsedFrame parsed = parser.parse(frame);
      EXPECT_EQ(parsed.key, key);
      EXPECT_FALSE(parsed.repeat);
      EXPECT_EQ(parsed.advances_reference, headers.has_sof);
      EXPECT_EQ(parsed.geometry, Geometry(12, 8));
      EXPECT_EQ(parsed.tables, make_quantization_tables(headers.quantization_tables ? 10 : 25));
      EXPECT_EQ(parsed.scan_offset, frame_header_bytes(headers));
      EXPECT_TRUE(std::ranges::equal(parsed.scan, scan.first(scan.size() - 2)));
      EXPECT_EQ(parsed.size, frame.size() - 1);
      // The parser keeps the tables of this frame for later frames, here for a repeat.
      EXPECT_EQ(parser.parse(Bytes{0xFF, 0xD8, 0xFF, 0xD9}).tables, parsed.tables);
    }
  }
}

TEST(FrameParser, RepeatsChangeNothing) {
  ScanBuilder blocks;
  const Bytes key = blocks.empty_blocks().frame(12, 8, true, 25);
  Bytes inter = key;
  inter[layout::kKey] = 0;
  StreamEditor replacing(key);
  replacing.cut(0, layout::kDqt, layout::kSos - layout::kDqt);
  const Bytes repeat = {0xFF, 0xD8, 0xFF, 0xD9};
  const Bytes padded_repeat = {0xFF, 0xD8, 0x00, 0xFF, 0xD9};

  FrameParser parser;
  expect_error(ErrorKind::input, "C63-REPEAT-FIRST", [&] { (void)parser.parse(repeat); });
  (void)parser.parse(key);
  for (const Bytes& frame : {repeat, padded_repeat}) {
    const ParsedFrame parsed = parser.parse(frame);
    EXPECT_TRUE(parsed.repeat);
    EXPECT_FALSE(parsed.key);
    EXPECT_FALSE(parsed.advances_reference);
    EXPECT_EQ(parsed.geometry, Geometry(12, 8));
    EXPECT_TRUE(parsed.scan.empty());
    EXPECT_EQ(parsed.size, frame.size());
  }
  // A frame without SOF must not follow a repeat of a key frame, but may follow a repeat of an inter frame.
  expect_error(ErrorKind::input, "C63-KEY-REPLACED", [&] { (void)parser.parse(replacing.frames[0]); });
  (void)parser.parse(inter);
  (void)parser.parse(repeat);
  EXPECT_FALSE(parser.parse(replacing.frames[0]).advances_reference);
  EXPECT_FALSE(parser.parse(replacing.frames[0]).advances_reference);
}

TEST(ScanSizes, BoundEveryScan) {
  EXPECT_EQ(smallest_scan(Geometry(16, 16)), 4U);
  EXPECT_EQ(smallest_scan(Geometry(65520, 32752)), (38ULL * 4095 * 2047 + 7) / 8 - 1);

  // No block can be longer than these: a long vector, the largest DC difference, and 63 coefficients with 16-bit codes.
  ScanBuilder scan;
  for (int block = 0; block < 6; ++block) {
    const bool luma = block < 4;
    scan.vector(-127, 127).value(luma ? kDcLumaCodes : kDcChromaCodes, 2047);
    for (int k = 1; k < 64; ++k)
      scan.symbol(luma ? kAcLumaCodes : kAcChromaCodes, luma ? 0x09 : 0x1A).bits(0x1FF, luma ? 9 : 10);
  }
  const Bytes frame = scan.frame(16, 16, true);
  EXPECT_LE(frame.size() - kFrameHeaderBytes - kFrameTrailerBytes, largest_scan(Geometry(16, 16)));
}

TEST(StreamStart, IsKnownByItsFirstHeader) {
  for (const bool quantization_tables : {true, false}) {
    for (const bool code_tables : {true, false}) {
      Bytes frame;
      write_frame_header(frame, Geometry(48, 32), make_quantization_tables(25), true,
                         {.quantization_tables = quantization_tables, .code_tables = code_tables});
      EXPECT_LE(frame.size(), kStreamStart);
      EXPECT_TRUE(starts_like_stream(frame));
      EXPECT_FALSE(starts_like_stream(std::span(frame).first(4)));
      frame[0] = 0xFE;
      EXPECT_FALSE(starts_like_stream(frame));
    }
  }
  EXPECT_FALSE(starts_like_stream({}));
  EXPECT_FALSE(starts_like_stream(Bytes{0xFF, 0xD8, 0xFF, 0xD9}));
  // These two beginnings belong to JPEG files, not to streams. The first has a JFIF segment. The second has a SOF, but
  // without the byte that c63 adds to it (1 in a key frame, 0 in an inter frame).
  EXPECT_FALSE(starts_like_stream(Bytes{0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0}));
  EXPECT_FALSE(starts_like_stream(Bytes{0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, 0, 16, 0, 16, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1}));
  EXPECT_FALSE(starts_like_stream(Bytes(kStreamStart, 0xFF)));
}

/// Searches byte by byte for the next marker: a 0xFF that is not followed by 0x00. Returns its position, or the number
/// of bytes if there is none.
std::size_t next_as_described(std::span<const std::uint8_t> bytes, std::size_t from) {
  for (std::size_t i = from; i < bytes.size(); ++i) {
    if (bytes[i] == 0xFF && (i + 1 == bytes.size() || bytes[i + 1] != 0x00)) return i;
  }
  return bytes.size();
}

/// Random bytes. About one in `rarity` is 0xFF. In three of four cases 0x00 follows it, so that it is not a marker.
Bytes bytes_with_markers(Random& random, std::uint32_t size, std::uint32_t rarity) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(random.below(255));
    if (random.below(rarity) != 0) continue;
    bytes[i] = 0xFF;
    if (i + 1 < bytes.size() && random.below(4) != 0) bytes[++i] = 0x00;
  }
  return bytes;
}

TEST(Markers, AreFoundAsDescribed) {
  Random random(5);
  for (int round = 0; round < 400; ++round) {
    const Bytes bytes = bytes_with_markers(random, random.below(2000), round % 2 == 0 ? 6 : 300);
    const auto size = static_cast<std::uint32_t>(bytes.size());
    for (int i = 0; i < 20; ++i) {
      const std::size_t from = random.below(size + 1);
      ASSERT_EQ(next_marker(bytes, from), next_as_described(bytes, from)) << size << " " << from;
    }
  }
}

}  // namespace
}  // namespace c63::test
