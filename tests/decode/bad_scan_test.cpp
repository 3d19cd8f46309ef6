// Tests scans with codes that no encoder writes. The decoder must return all frames before the invalid one, then one
// error that says where the fault is.

#include "bitstream/entropy_decoder.h"
#include "bitstream/entropy_encoder.h"
#include "decode/bad_stream.h"

namespace c63::test::bad_scan_test {
namespace {

class BadScan : public BadStream {
 protected:
  static constexpr int kSide = 16;

  static Bytes empty_key_frame() { return ScanBuilder().empty_blocks().frame(kSide, kSide, true); }

  /// Makes a stream of an empty key frame and a frame with this scan, which is a key frame if `key` is true. Expects
  /// this error in this block of the second frame. The block begins in byte `byte` of the scan.
  static void expect_block_fault(ScanBuilder& scan, const std::string& id, const std::string& block, std::size_t byte,
                                 bool key, int side = kSide) {
    const Bytes before =
        side == kSide ? empty_key_frame() : encode(Bytes(frame_bytes(side, side)), {.coding = {.width = side, .height = side}});
    Bytes stream = before;
    const Bytes frame = scan.frame(side, side, key);
    stream.insert(stream.end(), frame.begin(), frame.end());
    keep(stream, id);
    const Decoded decoded = decode_stream(stream);
    expect_failed(decoded, ErrorKind::input, id);
    EXPECT_EQ(decoded.error->place().block, block) << decoded.error->what();
    EXPECT_EQ(decoded.error->place().frame, 1) << decoded.error->what();
    EXPECT_EQ(decoded.error->place().offset, static_cast<std::int64_t>(before.size() + layout::kScan + byte))
        << decoded.error->what();
    EXPECT_EQ(decoded.frames.size(), 1U);
  }
};

TEST_F(BadScan, EmptyScanDecodes) {
  const Decoded decoded = without_error(decode_stream(empty_key_frame()));
  EXPECT_EQ(decoded.pictures(), Bytes(frame_bytes(kSide, kSide)));
}

TEST_F(BadScan, VectorOutsideThePicture) {
  for (const auto& [x, y] : {std::pair{-1, 0}, {0, -1}, {1, 9}, {9, 1}, {127, 0}, {0, -127}}) {
    expect_block_fault(ScanBuilder().vector(x, y).empty_luma().empty_blocks(1), "C63-MV-RANGE", "Y block 0,0", 0,
                       false);
  }
  expect_block_fault(ScanBuilder().empty_blocks(0, 4).vector(0, 1).empty_chroma().empty_blocks(5), "C63-MV-RANGE",
                     "U block 0,0", 3, false);
}

TEST_F(BadScan, VectorsAtTheEdgesAreLegal) {
  ScanBuilder scan;
  scan.vector(8, 8).empty_luma().vector(-8, 8).empty_luma().vector(8, -8).empty_luma().vector(-8, -8).empty_luma();
  scan.vector(0, 0).empty_chroma().vector(0, 0).empty_chroma();
  Bytes stream = empty_key_frame();
  const Bytes frame = scan.frame(kSide, kSide, false);
  stream.insert(stream.end(), frame.begin(), frame.end());
  const Decoded decoded = decode_stream(stream);
  EXPECT_FALSE(decoded.error) << decoded.error->what();
  EXPECT_EQ(decoded.frames.size(), 2U);
}

TEST_F(BadScan, VectorsOfKeyFramesAreReadAndIgnored) {
  ScanBuilder scan;
  scan.vector(-100, 100).value(kDcLumaCodes, 5).symbol(kAcLumaCodes, kEndOfBlock);
  scan.reuse().empty_luma().empty_blocks(2);
  const Bytes with = scan.frame(kSide, kSide, true);
  ScanBuilder plain;
  plain.intra().value(kDcLumaCodes, 5).symbol(kAcLumaCodes, kEndOfBlock).empty_blocks(1);
  const Decoded decoded = without_error(decode_stream(with));
  EXPECT_EQ(decoded.pictures(), decode_stream(plain.frame(kSide, kSide, true)).pictures());
}

TEST_F(BadScan, ReuseInColumnZero) {
  expect_block_fault(ScanBuilder().reuse().empty_luma().empty_blocks(1), "C63-MV-REUSE", "Y block 0,0", 0, false);
  expect_block_fault(ScanBuilder().vector(0, 0).empty_luma().intra().empty_luma().reuse().empty_luma().empty_blocks(3),
                     "C63-MV-REUSE", "Y block 0,1", 2, false);
  ScanBuilder chroma;
  for (int block = 0; block < 4; ++block) chroma.vector(0, 0).empty_luma();
  chroma.reuse().empty_chroma().empty_blocks(5);
  expect_block_fault(chroma, "C63-MV-REUSE", "U block 0,0", 6, false);
}

TEST_F(BadScan, ReuseOfAnIntraBlock) {
  expect_block_fault(ScanBuilder().empty_blocks(0, 1).reuse().empty_luma().empty_blocks(2), "C63-MV-REUSE",
                     "Y block 1,0", 0, false);
}

TEST_F(BadScan, ReuseOfAnInheritedVector) {
  // In a frame without SOF, the left block inherits the vector of the previous frame. The next block must not reuse it,
  // because the left block itself contains no vector.
  ScanBuilder inter;
  for (int block = 0; block < 4; ++block) inter.vector(0, 0).empty_luma();
  inter.vector(0, 0).empty_chroma().vector(0, 0).empty_chroma();
  ScanBuilder reuse;
  reuse.intra().empty_luma().reuse().empty_luma().empty_blocks(2);
  StreamEditor stream(empty_key_frame());
  stream.frames.push_back(inter.frame(kSide, kSide, false));
  stream.frames.push_back(reuse.frame(kSide, kSide, false));
  stream.cut(2, layout::kSof, layout::kDht - layout::kSof);
  const Decoded decoded = decode_stream(stream.bytes());
  expect_failed(decoded, ErrorKind::input, "C63-MV-REUSE");
  EXPECT_EQ(decoded.error->place().block, "Y block 1,0");
  EXPECT_EQ(decoded.frames.size(), 2U);
}

TEST_F(BadScan, IntraBlocksOfInterFramesPredictFromNothing) {
  const Bytes key = encode(Bytes(frame_bytes(kSide, kSide), 200), {.coding = {.width = kSide, .height = kSide}});
  ScanBuilder scan;
  scan.empty_blocks();
  Bytes stream = key;
  const Bytes frame = scan.frame(kSide, kSide, false);
  stream.insert(stream.end(), frame.begin(), frame.end());
  const Decoded decoded = without_error(decode_stream(stream));
  EXPECT_NE(decoded.frames[0].picture, Bytes(frame_bytes(kSide, kSide)));
  EXPECT_EQ(decoded.frames[1].picture, Bytes(frame_bytes(kSide, kSide)));
}

TEST_F(BadScan, CoefficientsPastTheLast) {
  ScanBuilder runs;  // 48 zeros, then sixteen more: index 65
  runs.intra().value(kDcLumaCodes, 0);
  for (int i = 0; i < 4; ++i) runs.symbol(kAcLumaCodes, kZeroRunLength);
  expect_block_fault(runs.empty_blocks(1), "C63-AC-INDEX", "Y block 0,0", 0, true);

  ScanBuilder run;  // 48 zeros, then fifteen and a coefficient: index 64
  run.intra().value(kDcLumaCodes, 0);
  for (int i = 0; i < 3; ++i) run.symbol(kAcLumaCodes, kZeroRunLength);
  run.symbol(kAcLumaCodes, 0xF1).bits(1, 1);
  expect_block_fault(run.empty_blocks(1), "C63-AC-INDEX", "Y block 0,0", 0, true);

  ScanBuilder chroma;
  chroma.empty_blocks(0, 4).intra().value(kDcChromaCodes, 0);
  for (int i = 0; i < 4; ++i) chroma.symbol(kAcChromaCodes, kZeroRunLength);
  expect_block_fault(chroma.empty_blocks(5), "C63-AC-INDEX", "U block 0,0", 3, true);
}

TEST_F(BadScan, LastCoefficientNeedsNoEndOfBlock) {
  ScanBuilder scan;  // 48 zeros, fourteen more, then index 63
  scan.intra().value(kDcLumaCodes, 0);
  for (int i = 0; i < 3; ++i) scan.symbol(kAcLumaCodes, kZeroRunLength);
  scan.symbol(kAcLumaCodes, 0xE1).bits(1, 1);
  scan.empty_blocks(1);
  const Decoded decoded = decode_stream(scan.frame(kSide, kSide, true));
  EXPECT_FALSE(decoded.error) << decoded.error->what();
}

TEST_F(BadScan, DcOverflow) {
  // A DC level is the sum of the differences so far. With differences of 1000, the 33rd block exceeds 16 bits.
  ScanBuilder scan;
  for (int mcu = 0; mcu < 9; ++mcu) {
    for (int block = 0; block < 4; ++block) scan.intra().value(kDcLumaCodes, 1000).symbol(kAcLumaCodes, kEndOfBlock);
    scan.empty_blocks(4);
  }
  constexpr std::size_t kMcuBits = 4 * (1 + 8 + 10 + 4) + 2 * (1 + 2 + 2);
  expect_block_fault(scan, "C63-DC-OVERFLOW", "Y block 4,4", 8 * kMcuBits / 8, true, 48);
}

TEST_F(BadScan, UnknownCodes) {
  const auto expect_unknown = [](ScanBuilder& scan, const char* block, std::size_t byte, bool key) {
    expect_block_fault(scan.empty_blocks(), "C63-CODE", block, byte, key);
  };
  expect_unknown(ScanBuilder().intra().bits(0x1FF, 9), "Y block 0,0", 0, true);
  expect_unknown(ScanBuilder().empty_blocks(0, 4).intra().bits(0x7FF, 11), "U block 0,0", 3, true);
  expect_unknown(ScanBuilder().intra().value(kDcLumaCodes, 0).bits(0xFFFF, 16), "Y block 0,0", 0, true);
  // The code of size 10, which the course decoder also rejects.
  expect_unknown(ScanBuilder().intra().value(kDcLumaCodes, 0).bits(0xFF83, 16).bits(0x3FF, 10), "Y block 0,0", 0, true);
  expect_unknown(ScanBuilder().bits(2, 2).bits(0x1F, 5), "Y block 0,0", 0, false);
  expect_unknown(ScanBuilder().bits(2, 2).value(kDcLumaCodes, 0).bits(0x1F, 5), "Y block 0,0", 0, false);
}

TEST_F(BadScan, MarkersInsideTheScan) {
  const std::size_t early = layout::kScan + 10;  // fewer bytes than the blocks need
  const std::size_t late = stream_.frames[1].size() - 10;
  ASSERT_NE(stream_.frames[1][late - 1], 0xFF);
  for (const std::size_t at : {early, layout::kScan + 40, late}) {
    for (const std::uint8_t marker : {0xD0, 0xD8, 0xD9, 0xC4, 0xE1, 0x01}) {
      StreamEditor edited(valid());
      edited.insert(1, at, {0xFF, marker});
      if (marker == 0xD0 || marker == 0xD9) {
        expect_fault_in(edited, "C63-SCAN-MARKER", 1, at);
        continue;
      }
      // Other markers end the scan, too. The error may also lie in the segment that seems to follow.
      const Decoded decoded = decode_stream(edited.bytes());
      ASSERT_TRUE(decoded.error);
      EXPECT_EQ(decoded.error->kind(), ErrorKind::input);
      EXPECT_EQ(decoded.error->place().frame, 1);
      EXPECT_EQ(decoded.frames.size(), 1U);
    }
  }
  stream_.cut(1, layout::kScan, stream_.frames[1].size() - 2 - layout::kScan);
  expect_fault_in(stream_, "C63-SCAN-MARKER", 1, layout::kScan);  // no scan at all
}

TEST_F(BadScan, BytesAfterTheLastBlock) {
  const std::size_t end = stream_.frames[1].size() - 2;
  for (const Bytes& extra : {Bytes{0x00, 0x00}, Bytes{0x00, 0x01, 0x02}, Bytes{0x77, 0x77}}) {
    StreamEditor edited(valid());
    edited.insert(1, end, extra);
    const Decoded decoded = decode_stream(edited.bytes());
    expect_failed(decoded, ErrorKind::input, "C63-SCAN-TRAILING");
    EXPECT_EQ(decoded.error->place().frame, 1);
    EXPECT_EQ(decoded.frames.size(), 1U);
  }
}

TEST_F(BadScan, HostileCoefficientsStayDefined) {
  // These are the largest levels and steps that a stream can have. Sanitizers find conversions that overflow.
  for (const int sign : {1, -1}) {
    ScanBuilder scan;
    for (int mcu = 0; mcu < 4; ++mcu) {
      for (int block = 0; block < 6; ++block) {
        const bool luma = block < 4;
        scan.intra().value(luma ? kDcLumaCodes : kDcChromaCodes, 2047 * sign);
        for (int k = 1; k < 64; ++k) {
          const int largest = luma ? 511 : 1023;
          const int size = value_size(largest);
          scan.symbol(luma ? kAcLumaCodes : kAcChromaCodes, size).bits(value_bits(largest * sign, size), size);
        }
      }
    }
    Bytes frame = scan.frame(32, 32, true);
    for (std::size_t i = 0; i < 3 * 65; ++i) {
      if (i % 65 != 0) frame[layout::kDqtTables + i] = 255;
    }
    const Decoded decoded = decode_stream(frame);
    EXPECT_FALSE(decoded.error) << decoded.error->what();
  }
}

TEST_F(BadScan, LostBitsOfTheFlushDecodeExactly) {
  // The last Y block ends with eight levels of -1, and U and V are empty. So the last 32 bits of the scan are zero, and
  // the encoder leaves out the bits of the unfinished byte. Other levels before them move these bits to all positions
  // in a byte.
  int lost = 0;
  for (int shift = 0; shift < 64; ++shift) {
    FrameSyntax syntax(Geometry(16, 16));
    syntax.key = true;
    std::int16_t* const first = syntax.planes[0].block(0);
    first[0] = static_cast<std::int16_t>(shift % 8 == 0 ? 0 : 1 << (shift % 8 - 1));
    first[1] = static_cast<std::int16_t>(1 << (shift / 8));
    std::int16_t* const last = syntax.planes[0].block(3);
    last[0] = syntax.planes[0].block(2)[0] = syntax.planes[0].block(1)[0] = first[0];
    for (int k = 56; k < 64; ++k) last[k] = -1;

    Bytes frame;
    write_frame_header(frame, syntax.geometry, make_quantization_tables(25), true);
    BitCounts bits;
    encode_scan(syntax, frame, bits);
    const std::size_t scan_bytes = frame.size() - layout::kScan;
    write_frame_trailer(frame);
    const std::uint64_t coded_bits = bits.luma + bits.chroma + bits.motion;
    if (8 * scan_bytes < coded_bits) ++lost;  // these scans contain no byte 0xFF

    const ParsedFrame parsed = FrameParser().parse(frame);
    FrameSyntax decoded(parsed.geometry);
    std::vector<std::uint8_t> scratch;
    decode_scan(parsed, decoded, scratch);
    for (int p = 0; p < kPlanes; ++p) EXPECT_EQ(decoded.planes[p].levels, syntax.planes[p].levels) << shift;
    EXPECT_FALSE(decode_stream(frame).error);
  }
  EXPECT_GT(lost, 10);  // lost bits did occur
}

}  // namespace
}  // namespace c63::test::bad_scan_test
