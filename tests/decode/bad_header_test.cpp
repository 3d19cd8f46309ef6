// Tests streams with invalid headers. The decoder must return all frames before the invalid one, then one error that
// says where the fault is.

#include <functional>
#include <string>
#include <vector>

#include "support/allocations.h"
#include "decode/bad_stream.h"

namespace c63::test::bad_header_test {
namespace {

using Edit = std::function<void(StreamEditor& stream)>;

const Bytes kRepeat = {0xFF, 0xD8, 0xFF, 0xD9};

/// Where the scan of frame `frame` ends: before EOI.
std::size_t end_of_scan(const StreamEditor& stream, std::size_t frame) { return stream.frames[frame].size() - 2; }

/// Removes a frame's SOF and returns it.
Bytes cut_sof(StreamEditor& stream, std::size_t frame) { return stream.cut(frame, layout::kSof, layout::kDht - layout::kSof); }

class BadHeader : public BadStream {
 protected:
  struct Fault {
    std::string id;
    std::size_t frame;
    std::size_t at;  ///< offset of the fault in the frame
    Edit edit;
  };

  static StreamEditor edited(const Edit& edit) {
    StreamEditor stream(valid());
    edit(stream);
    return stream;
  }
  static void expect_faults(const std::vector<Fault>& faults) {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      SCOPED_TRACE(faults[i].id + ", row " + std::to_string(i));
      expect_fault_in(edited(faults[i].edit), faults[i].id, faults[i].frame, faults[i].at);
    }
  }
};

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
  for (const Bytes& tail : {Bytes{0x00}, Bytes{'t', 'a', 'i', 'l'}, Bytes{0xFF, 0x00}, Bytes(1000, 0xFF)}) {
    Bytes stream = valid();
    stream.insert(stream.end(), tail.begin(), tail.end());
    expect_fault(stream, "C63-NO-FRAME", 3, valid().size());
  }
  expect_faults({{"C63-NO-FRAME", 2, 0, [](auto& s) { s.insert(2, 0, {0x12, 0x34}); }}});
}

TEST_F(BadHeader, FramesThatMustNotFollow) {
  expect_fault(kRepeat, "C63-REPEAT-FIRST", 0, 2);
  expect_faults({{"C63-REPEAT-FIRST", 0, 2, [](auto& s) { s.frames.insert(s.frames.begin(), kRepeat); }},
                 {"C63-INTER-FIRST", 0, 0, [](auto& s) { s.set(0, layout::kKey, 0); }},
                 {"C63-INTER-FIRST", 0, 0, [](auto& s) { s.frames.erase(s.frames.begin()); }},
                 {"C63-NO-SOF", 0, layout::kSos - 20, [](auto& s) { cut_sof(s, 0); }},
                 {"C63-KEY-REPLACED", 1, layout::kSos - 20, [](auto& s) { cut_sof(s, 1); }}});
  const Decoded after_repeat = decode_stream(edited([](auto& s) {
                                               cut_sof(s, 1);
                                               s.frames.insert(s.frames.begin() + 1, kRepeat);
                                             }).bytes());
  expect_failed(after_repeat, ErrorKind::input, "C63-KEY-REPLACED");
  EXPECT_EQ(after_repeat.frames.size(), 2U);
}

TEST_F(BadHeader, OrderOfSegments) {
  const std::size_t end = end_of_scan(stream_, 1);
  const std::size_t end2 = end_of_scan(stream_, 2) - (layout::kDht - layout::kSof);
  expect_faults({{"C63-SCAN-BEFORE-SOF", 2, end2, [&](auto& s) { const Bytes sof = cut_sof(s, 2); s.insert(2, end2, sof); }},
                 {"C63-SOF-TWICE", 1, layout::kDht,
                  [](auto& s) {
                    const Bytes sof = cut_sof(s, 1);
                    s.insert(1, layout::kSof, sof);
                    s.insert(1, layout::kSof, sof);
                  }},
                 {"C63-SOF-TWICE", 1, end,
                  [&](auto& s) {
                    const Bytes sof = cut_sof(s, 1);
                    s.insert(1, layout::kSof, sof);
                    s.insert(1, end, sof);
                  }},
                 {"C63-SCAN-TWICE", 1, end,
                  [&](auto& s) {
                    const Bytes scan = s.cut(1, layout::kSos, end - layout::kSos);
                    s.insert(1, layout::kSos, scan);
                    s.insert(1, end, scan);
                  }},
                 {"C63-NO-SCAN", 1, layout::kSos, [&](auto& s) { s.cut(1, layout::kSos, end - layout::kSos); }},
                 {"C63-SOI-TWICE", 1, 2, [](auto& s) { s.insert(1, layout::kDqt, {0xFF, 0xD8}); }},
                 {"C63-NO-DQT", 0, layout::kSos - 199, [](auto& s) { s.cut(0, layout::kDqt, layout::kSof - layout::kDqt); }}});
  for (const auto& [first, last] : {std::pair{layout::kDqt, layout::kSof}, {layout::kSof, layout::kDht}, {layout::kDht, layout::kSos}}) {
    // A frame with the segments in [first, last) and no scan is an error, not a repeat.
    Bytes frame = kRepeat;
    frame.insert(frame.begin() + 2, valid().begin() + first, valid().begin() + last);
    expect_faults({{"C63-NO-SCAN", 1, 2 + last - first, [&](auto& s) { s.frames.insert(s.frames.begin() + 1, frame); }}});
  }
}

TEST_F(BadHeader, Markers) {
  for (const std::uint8_t marker : {0xE0, 0xFE, 0xFF, 0x00, 0xC1, 0xC2, 0xDD}) {
    expect_faults({{"C63-MARKER", 1, layout::kSof, [marker](auto& s) { s.insert(1, layout::kSof, {0xFF, marker, 0x00, 0x02}); }}});
  }
  expect_faults({{"C63-NO-MARKER", 1, layout::kSof, [](auto& s) { s.insert(1, layout::kSof, {0x55}); }},
                 {"C63-NO-MARKER", 1, layout::kDqt + 1, [](auto& s) { s.insert(1, layout::kDqt, {0x00, 0x00}); }}});
}

TEST_F(BadHeader, ValuesOutOfRange) {
  const std::size_t second_id = layout::kDqtTables + 65;
  expect_faults({{"C63-SIZE-ZERO", 0, layout::kHeight, [](auto& s) { s.set_u16(0, layout::kWidth, 0); }},
                 {"C63-SIZE-ZERO", 1, layout::kHeight, [](auto& s) { s.set_u16(1, layout::kHeight, 0); }},
                 {"C63-SIZE-AREA", 0, layout::kHeight,  // without whole samples of chroma
                  [](auto& s) {
                    s.set_u16(0, layout::kWidth, 33);
                    s.set_u16(0, layout::kHeight, 31);
                  }},
                 {"C63-SIZE-CHANGE", 2, layout::kHeight, [](auto& s) { s.set_u16(2, layout::kWidth, kWidth + 16); }},
                 {"C63-PRECISION", 1, layout::kPrecision, [](auto& s) { s.set(1, layout::kPrecision, 12); }},
                 {"C63-DQT-ID", 1, second_id, [&](auto& s) { s.set(1, second_id, 3); }},
                 {"C63-DQT-ID", 1, second_id, [&](auto& s) { s.set(1, second_id, 0); }}});
  for (const std::size_t table : {0U, 1U, 2U}) {
    const std::size_t at = layout::kDqtTables + 65 * table + 1 + 21 * table;
    expect_faults({{"C63-DQT-ZERO", 1, at, [at](auto& s) { s.set(1, at, 0); }}});
  }
  const auto expect_bad_length = [](std::size_t at, unsigned length) {
    expect_faults({{"C63-SEGMENT-LENGTH", 1, at, [=](auto& s) { s.set_u16(1, at, length); }}});
  };
  for (const std::size_t at : {layout::kDqtLength, layout::kSofLength, layout::kDhtLength, layout::kSosLength}) {
    for (const unsigned length : {0U, 1U, 65535U}) expect_bad_length(at, length);
  }
  for (const unsigned length : {3U, 4U, 11U, 13U, 14U}) expect_bad_length(layout::kSosLength, length);
}

TEST_F(BadHeader, WhatIsAcceptedAsWell) {
  const std::vector<Edit> edits = {
      [](auto& s) { s.set(0, layout::kKey, 0x80); },  // any key byte but 0 means a key frame
      [](auto& s) {                                   // one pad byte before a marker
        for (const std::size_t at : {layout::kSos, layout::kDht, layout::kSof, layout::kDqt}) s.insert(1, at, {0x00});
      },
      [](auto& s) {  // the correct length of DQT
        s.set_u16(0, layout::kDqtLength, 197);
        s.set_u16(1, layout::kDqtLength, 197);
      },
      [](auto& s) {  // a DHT with any content
        s.cut(1, layout::kDhtLength + 2, 400);
        s.set_u16(1, layout::kDhtLength, 0x01A2 - 400);
      },
      [](auto& s) {  // no code tables, and no components in SOS
        for (const std::size_t frame : {0U, 1U, 2U}) {
          s.cut(frame, layout::kSosLength + 2, 10);
          s.set_u16(frame, layout::kSosLength, 2);
          s.cut(frame, layout::kDht, layout::kSos - layout::kDht);
        }
      },
      [](auto& s) { s.cut(1, layout::kDqt, layout::kSof - layout::kDqt); },  // tables persist
  };
  for (std::size_t i = 0; i < edits.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(without_error(decode_stream(edited(edits[i]).bytes())).pictures(), valid_pictures());
  }
}

TEST_F(BadHeader, SizeAboveTheCallersLimit) {
  DecoderSettings settings;
  settings.execution.limits.max_pixels = kWidth * kHeight;
  EXPECT_FALSE(decode_stream(valid(), settings).error);
  settings.execution.limits.max_pixels -= 1;
  expect_fault_in(stream_, "C63-MAX-PIXELS", 0, layout::kHeight, ErrorKind::limit, settings);
}

TEST_F(BadHeader, AllocationBomb) {
  // A tiny stream whose header claims the largest possible picture. The scan of such a picture has at least 39.8 MB.
  // The decoder must see that the stream is too short, without allocating memory for the picture.
  stream_.set_u16(0, layout::kWidth, 65520);
  stream_.set_u16(0, layout::kHeight, 32752);
  const Bytes bytes = stream_.bytes();
  for (const std::size_t size : {bytes.size(), layout::kScan}) {  // whole, or only the first header
    const AllocationProbe probe;
    expect_fault({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, "C63-TRUNCATED", 0, size);
    EXPECT_LT(probe.largest(), std::size_t{1} << 20);
  }
}

TEST_F(BadHeader, PictureAboveTheMemoryLimit) {
  DecoderSettings settings;
  const Bytes large = encode(Bytes(frame_bytes(320, 320)), {.coding = {.width = 320, .height = 320}});
  settings.execution.limits.max_memory = large.size() + 100000;
  const Decoded decoded = decode_stream(large, settings);
  expect_failed(decoded, ErrorKind::limit, "C63-MAX-MEMORY");
  EXPECT_EQ(decoded.error->place().frame, 0);
}

TEST_F(BadHeader, ScanThatNeverEnds) {
  stream_.frames[0].resize(layout::kScan);
  EndlessSource small(stream_.frames[0], {0});
  const Decoded trailing = decode_stream(small);
  expect_failed(trailing, ErrorKind::input, "C63-SCAN-TRAILING");
  EXPECT_LT(small.taken(), std::size_t{1} << 20);

  stream_.set_u16(0, layout::kWidth, 32560);
  stream_.set_u16(0, layout::kHeight, 32544);
  EndlessSource large(stream_.frames[0], {0});
  const Decoded limited = decode_stream(large, {.execution = {.limits = {.max_memory = 1 << 20}}});
  expect_failed(limited, ErrorKind::limit, "C63-MAX-MEMORY");
  EXPECT_LT(large.taken(), std::size_t{4} << 20);
}

}  // namespace
}  // namespace c63::test::bad_header_test
