// Tests streams with invalid headers. The decoder must return all frames before the invalid one, then one error that
// says where the fault is.

#include "decode/allocation_probe.h"
#include "decode/bad_stream.h"

namespace c63::test::bad_header_test {
namespace {

class BadHeader : public BadStream {
 protected:
  inline static const Bytes kRepeat = {0xFF, 0xD8, 0xFF, 0xD9};
};

TEST_F(BadHeader, LayoutIsWhatTheTestsEdit) {
  for (const Bytes& frame : stream_.frames) {
    EXPECT_EQ(frame[layout::kDqt + 1], 0xDB);
    EXPECT_EQ(frame[layout::kSof + 1], 0xC0);
    EXPECT_EQ(frame[layout::kDht + 1], 0xC4);
    EXPECT_EQ(frame[layout::kSos + 1], 0xDA);
  }
  EXPECT_EQ(stream_.frames.size(), 3U);
  EXPECT_EQ(stream_.bytes(), valid());
}

TEST_F(BadHeader, EmptyStreamHasNoFrames) {
  const Decoded decoded = decode_stream(Bytes{});
  EXPECT_FALSE(decoded.error);
  EXPECT_EQ(decoded.summary.frames, 0);
  EXPECT_EQ(decoded.summary.width, 0);
}

TEST_F(BadHeader, Garbage) {
  expect_fault({'R', 'I', 'F', 'F', 0, 0, 0, 0}, "C63-NO-FRAME", 0, 0);
  expect_fault({0xFF, 0xE0, 0, 0}, "C63-NO-FRAME", 0, 0);
  expect_fault(Bytes(100000, 0), "C63-NO-FRAME", 0, 0);
  expect_fault({'x'}, "C63-NO-FRAME", 0, 0);
}

TEST_F(BadHeader, EveryTruncationPoint) {
  const Bytes& all = valid();
  for (std::size_t size = 1; size < all.size(); ++size) {
    std::size_t whole = 0;
    while (whole < 3 && stream_.offset(whole + 1) <= size) ++whole;
    const Decoded decoded = decode_stream(std::span(all).first(size), {.execution = {.threads = 1}});
    ASSERT_EQ(decoded.frames.size(), whole) << size;
    if (stream_.offset(whole) == size) {
      ASSERT_FALSE(decoded.error) << size << ": " << decoded.error->what();
      continue;
    }
    ASSERT_TRUE(decoded.error) << size;
    ASSERT_EQ(decoded.error->id(), "C63-TRUNCATED") << size << ": " << decoded.error->what();
    ASSERT_EQ(decoded.error->kind(), ErrorKind::input);
    ASSERT_EQ(decoded.error->place().frame, static_cast<std::int64_t>(whole));
    ASSERT_EQ(decoded.error->place().offset, static_cast<std::int64_t>(size));
  }
}

TEST_F(BadHeader, TrailingGarbage) {
  const std::size_t end = valid().size();
  for (const Bytes& garbage : {Bytes{0x00}, Bytes{'t', 'a', 'i', 'l'}, Bytes{0xFF, 0x00}, Bytes(1000, 0xFF)}) {
    Bytes stream = valid();
    stream.insert(stream.end(), garbage.begin(), garbage.end());
    expect_fault(stream, "C63-NO-FRAME", 3, end);
  }
}

TEST_F(BadHeader, GarbageBetweenFrames) {
  stream_.insert(2, 0, {0x12, 0x34});
  expect_fault_in(stream_, "C63-NO-FRAME", 2, 0);
}

TEST_F(BadHeader, InterFrameFirst) {
  stream_.set(0, layout::kKey, 0);
  expect_fault_in(stream_, "C63-INTER-FIRST", 0, 0);
  stream_ = StreamEditor(valid());
  stream_.frames.erase(stream_.frames.begin());
  expect_fault_in(stream_, "C63-INTER-FIRST", 0, 0);
}

TEST_F(BadHeader, AnyOtherKeyByteMeansKeyFrame) {
  stream_.set(0, layout::kKey, 0x80);
  expect_decodes_to_valid(stream_.bytes());
}

TEST_F(BadHeader, NoSofAtTheStart) {
  stream_.cut(0, layout::kSof, layout::kDht - layout::kSof);
  expect_fault_in(stream_, "C63-NO-SOF", 0, layout::kSos - 20);
}

TEST_F(BadHeader, NoSofAfterAKeyFrame) {
  stream_.cut(1, layout::kSof, layout::kDht - layout::kSof);
  expect_fault_in(stream_, "C63-KEY-REPLACED", 1, layout::kSos - 20);
  stream_.frames.insert(stream_.frames.begin() + 1, kRepeat);  // also not allowed after the key frame's repeat
  const Decoded decoded = decode_stream(stream_.bytes());
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->id(), "C63-KEY-REPLACED") << decoded.error->what();
  EXPECT_EQ(decoded.frames.size(), 2U);
}

TEST_F(BadHeader, ScanBeforeSof) {
  const Bytes sof = stream_.cut(2, layout::kSof, layout::kDht - layout::kSof);
  const std::size_t end = stream_.frames[2].size() - 2;
  stream_.insert(2, end, sof);
  expect_fault_in(stream_, "C63-SCAN-BEFORE-SOF", 2, end);
}

TEST_F(BadHeader, TwoSofs) {
  Bytes sof = stream_.cut(1, layout::kSof, layout::kDht - layout::kSof);
  stream_.insert(1, layout::kSof, sof);
  stream_.insert(1, layout::kSof, sof);
  expect_fault_in(stream_, "C63-SOF-TWICE", 1, layout::kDht);
}

TEST_F(BadHeader, SofAfterTheScan) {
  const Bytes sof(stream_.frames[1].begin() + layout::kSof, stream_.frames[1].begin() + layout::kDht);
  const std::size_t end = stream_.frames[1].size() - 2;
  stream_.insert(1, end, sof);
  expect_fault_in(stream_, "C63-SOF-TWICE", 1, end);
}

TEST_F(BadHeader, TwoScans) {
  const std::size_t end = stream_.frames[1].size() - 2;
  const Bytes scan(stream_.frames[1].begin() + layout::kSos,
                   stream_.frames[1].begin() + static_cast<std::ptrdiff_t>(end));
  stream_.insert(1, end, scan);
  expect_fault_in(stream_, "C63-SCAN-TWICE", 1, end);
}

TEST_F(BadHeader, NoScan) {
  stream_.cut(1, layout::kSos, stream_.frames[1].size() - 2 - layout::kSos);
  expect_fault_in(stream_, "C63-NO-SCAN", 1, layout::kSos);
}

TEST_F(BadHeader, RepeatAtTheStart) {
  expect_fault(kRepeat, "C63-REPEAT-FIRST", 0, 2);
  stream_.frames.insert(stream_.frames.begin(), kRepeat);
  expect_fault_in(stream_, "C63-REPEAT-FIRST", 0, 2);
}

TEST_F(BadHeader, SegmentsWithoutAScanAreNotARepeat) {
  for (const auto& [first, end] : {std::pair{layout::kDqt, layout::kSof}, {layout::kSof, layout::kDht}, {layout::kDht, layout::kSos}}) {
    StreamEditor edited(valid());
    Bytes frame = kRepeat;
    frame.insert(frame.begin() + 2, valid().begin() + first, valid().begin() + end);
    // This frame contains the segments in [first, end) and no scan. It must be an error, not a repeat.
    edited.frames.insert(edited.frames.begin() + 1, frame);
    expect_fault_in(edited, "C63-NO-SCAN", 1, 2 + end - first);
  }
}

TEST_F(BadHeader, SecondSoi) {
  stream_.insert(1, layout::kDqt, {0xFF, 0xD8});
  expect_fault_in(stream_, "C63-SOI-TWICE", 1, 2);
}

TEST_F(BadHeader, UnknownMarkers) {
  for (const std::uint8_t marker : {0xE0, 0xFE, 0xFF, 0x00, 0xC1, 0xC2, 0xDD}) {
    StreamEditor edited(valid());
    edited.insert(1, layout::kSof, {0xFF, marker, 0x00, 0x02});
    expect_fault_in(edited, "C63-MARKER", 1, layout::kSof);
  }
}

TEST_F(BadHeader, ByteWhereAMarkerShouldBe) {
  stream_.insert(1, layout::kSof, {0x55});
  expect_fault_in(stream_, "C63-NO-MARKER", 1, layout::kSof);
}

TEST_F(BadHeader, OnePadByteBeforeAMarkerIsSkipped) {
  for (const std::size_t at : {layout::kSos, layout::kDht, layout::kSof, layout::kDqt}) stream_.insert(1, at, {0x00});
  expect_decodes_to_valid(stream_.bytes());
  stream_.insert(1, layout::kDqt, {0x00});
  expect_fault_in(stream_, "C63-NO-MARKER", 1, layout::kDqt + 1);
}

TEST_F(BadHeader, SizeZero) {
  stream_.set_u16(0, layout::kWidth, 0);
  expect_fault_in(stream_, "C63-SIZE-ZERO", 0, layout::kHeight);
  stream_ = StreamEditor(valid());
  stream_.set_u16(1, layout::kHeight, 0);
  expect_fault_in(stream_, "C63-SIZE-ZERO", 1, layout::kHeight);
}

TEST_F(BadHeader, SizeWithoutWholeChroma) {
  stream_.set_u16(0, layout::kWidth, 33);
  stream_.set_u16(0, layout::kHeight, 31);
  expect_fault_in(stream_, "C63-SIZE-AREA", 0, layout::kHeight);
}

TEST_F(BadHeader, SizeChanges) {
  stream_.set_u16(2, layout::kWidth, kWidth + 16);
  expect_fault_in(stream_, "C63-SIZE-CHANGE", 2, layout::kHeight);
}

TEST_F(BadHeader, SizeAboveTheCallersLimit) {
  DecoderSettings settings;
  settings.execution.limits.max_pixels = kWidth * kHeight;
  EXPECT_FALSE(decode_stream(valid(), settings).error);
  settings.execution.limits.max_pixels -= 1;
  expect_fault_in(stream_, "C63-MAX-PIXELS", 0, layout::kHeight, ErrorKind::limit, settings);
}

TEST_F(BadHeader, Precision) {
  stream_.set(1, layout::kPrecision, 12);
  expect_fault_in(stream_, "C63-PRECISION", 1, layout::kPrecision);
}

TEST_F(BadHeader, SegmentLengths) {
  for (const std::size_t at : {layout::kDqtLength, layout::kSofLength, layout::kDhtLength, layout::kSosLength}) {
    for (const unsigned length : {0U, 1U, 65535U}) {
      StreamEditor edited(valid());
      edited.set_u16(1, at, length);
      expect_fault_in(edited, "C63-SEGMENT-LENGTH", 1, at);
    }
  }
}

TEST_F(BadHeader, ACorrectDqtLengthIsAcceptedToo) {
  stream_.set_u16(0, layout::kDqtLength, 197);
  stream_.set_u16(1, layout::kDqtLength, 197);
  expect_decodes_to_valid(stream_.bytes());
}

TEST_F(BadHeader, DhtMayHoldAnything) {
  stream_.cut(1, layout::kDhtLength + 2, 400);
  stream_.set_u16(1, layout::kDhtLength, 0x01A2 - 400);
  expect_decodes_to_valid(stream_.bytes());
}

TEST_F(BadHeader, ZeroInAQuantizationTable) {
  for (const std::size_t table : {0U, 1U, 2U}) {
    StreamEditor edited(valid());
    const std::size_t at = layout::kDqtTables + 65 * table + 1 + 21 * table;
    edited.set(1, at, 0);
    expect_fault_in(edited, "C63-DQT-ZERO", 1, at);
  }
}

TEST_F(BadHeader, QuantizationTableIds) {
  stream_.set(1, layout::kDqtTables + 65, 3);
  expect_fault_in(stream_, "C63-DQT-ID", 1, layout::kDqtTables + 65);
  stream_.set(1, layout::kDqtTables + 65, 0);
  expect_fault_in(stream_, "C63-DQT-ID", 1, layout::kDqtTables + 65);
}

TEST_F(BadHeader, CodeTablesAndScanComponentsMayBeMissing) {
  for (const std::size_t frame : {0U, 1U, 2U}) {
    stream_.cut(frame, layout::kSosLength + 2, 10);
    stream_.set_u16(frame, layout::kSosLength, 2);
    stream_.cut(frame, layout::kDht, layout::kSos - layout::kDht);
  }
  expect_decodes_to_valid(stream_.bytes());
}

TEST_F(BadHeader, SosLengths) {
  for (const unsigned length : {3U, 4U, 11U, 13U, 14U}) {
    StreamEditor edited(valid());
    edited.set_u16(1, layout::kSosLength, length);
    expect_fault_in(edited, "C63-SEGMENT-LENGTH", 1, layout::kSosLength);
  }
}

TEST_F(BadHeader, QuantizationTablesPersist) {
  stream_.cut(1, layout::kDqt, layout::kSof - layout::kDqt);
  expect_decodes_to_valid(stream_.bytes());
  stream_ = StreamEditor(valid());
  stream_.cut(0, layout::kDqt, layout::kSof - layout::kDqt);
  expect_fault_in(stream_, "C63-NO-DQT", 0, layout::kSos - 199);
}

TEST_F(BadHeader, AllocationBomb) {
  // A tiny stream whose header claims the largest possible picture. The scan of such a picture has at least 39.8 MB.
  // The decoder must see that the stream is too short, without allocating memory for the picture.
  stream_.set_u16(0, layout::kWidth, 65520);
  stream_.set_u16(0, layout::kHeight, 32752);
  const Bytes bytes = stream_.bytes();
  {
    const AllocationProbe probe;
    expect_fault(bytes, "C63-TRUNCATED", 0, bytes.size());
    EXPECT_LT(probe.largest(), std::size_t{1} << 20);
  }
  // The same with only the first header. The decoder knows the size of the picture, but no scan follows.
  const Bytes head(bytes.begin(), bytes.begin() + layout::kScan);
  const AllocationProbe probe;
  expect_fault(head, "C63-TRUNCATED", 0, head.size());
  EXPECT_LT(probe.largest(), std::size_t{1} << 20);
}

TEST_F(BadHeader, PictureAboveTheMemoryLimit) {
  DecoderSettings settings;
  const Bytes large = encode(Bytes(frame_bytes(320, 320)), {.coding = {.width = 320, .height = 320}});
  settings.execution.limits.max_memory = large.size() + 100000;
  const Decoded decoded = decode_stream(large, settings);
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->id(), "C63-MAX-MEMORY");
  EXPECT_EQ(decoded.error->kind(), ErrorKind::limit);
  EXPECT_EQ(decoded.error->place().frame, 0);
}

TEST_F(BadHeader, ScanThatNeverEnds) {
  const Bytes start(valid().begin(), valid().begin() + layout::kScan);
  EndlessSource source(start, {0});
  const Decoded decoded = decode_stream(source);
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->id(), "C63-SCAN-TRAILING") << decoded.error->what();
  EXPECT_LT(source.taken(), std::size_t{1} << 20);
}

TEST_F(BadHeader, ScanThatNeverEndsWithinTheMemoryLimit) {
  stream_.set_u16(0, layout::kWidth, 32560);
  stream_.set_u16(0, layout::kHeight, 32544);
  Bytes start = stream_.frames[0];
  start.resize(layout::kScan);
  EndlessSource source(start, {0});
  const Decoded decoded = decode_stream(source, {.execution = {.limits = {.max_memory = 1 << 20}}});
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->id(), "C63-MAX-MEMORY") << decoded.error->what();
  EXPECT_EQ(decoded.error->kind(), ErrorKind::limit);
  EXPECT_LT(source.taken(), std::size_t{4} << 20);
}

}  // namespace
}  // namespace c63::test::bad_header_test
