// Tests that any frame can be decoded at any time. Pictures and errors must be the same as in decoding from the
// beginning.

#include <gtest/gtest.h>


#include "support/coding.h"
#include "support/expect_error.h"
#include "support/stream_editor.h"
#include "support/temporary_folder.h"

namespace c63::test::seekable_decoder_test {
namespace {

constexpr int kFrames = 23;
constexpr int kInterval = 5;

Bytes encoded(int width, int height, HeaderSet headers, std::optional<bool> repeats = {}) {
  EncoderSettings settings{.coding = {.width = width, .height = height}};
  settings.coding.key_interval = kInterval;
  settings.coding.rate.headers = headers;
  settings.coding.rate.repeats = repeats;
  return encode(moving_video(width, height, kFrames), settings);
}

/// A stream in which everything that a decoder keeps from frame to frame changes: tables, pictures, and runs of
/// repeats.
Bytes varied_stream() {
  StreamEditor editor(encoded(48, 32, HeaderSet::full));
  for (std::size_t i = 0; i < editor.frames.size(); ++i) editor.set(i, layout::kDqtTables + 1, static_cast<std::uint8_t>(3 + i / 3));
  const Bytes repeat = {0xFF, 0xD8, 0xFF, 0xD9};
  editor.frames.insert(editor.frames.begin() + 7, 3, repeat);
  editor.frames.insert(editor.frames.begin() + 16, 1, repeat);
  return editor.bytes();
}

void expect_same(const DecodedFrame& frame, const DecodedFrame& expected) {
  EXPECT_EQ(frame.index, expected.index);
  EXPECT_EQ(frame.key, expected.key) << frame.index;
  EXPECT_EQ(frame.repeat, expected.repeat) << frame.index;
  EXPECT_EQ(frame.offset, expected.offset) << frame.index;
  EXPECT_EQ(frame.coded_bytes, expected.coded_bytes) << frame.index;
  EXPECT_EQ(frame.picture, expected.picture) << frame.index;
  EXPECT_EQ(frame.prediction, expected.prediction) << frame.index;
}

TEST(SeekableDecoder, AnyFrameInAnyOrder) {
  for (const Bytes& stream : {encoded(48, 32, HeaderSet::full), encoded(44, 36, HeaderSet::compact, true), varied_stream()}) {
    const Decoded expected = decode_stream(stream, {.execution = {.threads = 1}, .keep_prediction = true});
    ASSERT_FALSE(expected.error);
    const auto frames = static_cast<std::int64_t>(expected.frames.size());
    for (const int threads : {1, 3}) {
      SeekableDecoder decoder(stream, {.execution = {.pool = pool_with(threads)}, .keep_prediction = true});
      Random random(static_cast<std::uint32_t>(threads));
      std::vector<std::int64_t> order = {0, 1, 2, 2, frames - 1, 0};
      for (std::int64_t i = 0; i < frames; ++i) order.push_back(i);
      while (order.size() < 100) order.push_back(random.below(static_cast<std::uint32_t>(frames)));
      for (const std::int64_t i : order) expect_same(decoder.frame(i), expected.frames[static_cast<std::size_t>(i)]);
      EXPECT_EQ(decoder.frame_count(), frames);
      EXPECT_FALSE(decoder.fault());
    }
  }
}

TEST(SeekableDecoder, SaysWhereFramesLie) {
  const Bytes stream = varied_stream();
  const Decoded expected = decode_stream(stream);
  SeekableDecoder decoder(stream);
  EXPECT_EQ(decoder.width(), 48);
  EXPECT_EQ(decoder.height(), 32);
  for (const DecodedFrame& frame : expected.frames) {
    const FrameEntry& entry = decoder.entry(frame.index);
    EXPECT_EQ(entry.offset, frame.offset);
    EXPECT_EQ(entry.bytes, frame.coded_bytes);
    EXPECT_EQ(entry.key, frame.key);
    EXPECT_EQ(entry.repeat, frame.repeat);
    if (!frame.repeat) {
      EXPECT_EQ(decoder.tables(entry.tables)[0][0], stream[frame.offset + layout::kDqtTables + 1]);
    }
  }
}

TEST(SeekableDecoder, LooksNoFurtherThanTheFrame) {
  Bytes stream = encoded(48, 32, HeaderSet::full);
  StreamEditor editor(stream);
  editor.set(12, layout::kPrecision, 9);
  stream = editor.bytes();
  SeekableDecoder decoder(stream);
  EXPECT_EQ(decoder.frame(11).index, 11);
  const auto error = expect_error(ErrorKind::input, "C63-PRECISION", [&] { (void)decoder.frame(12); });
  EXPECT_EQ(error->place().frame, 12);
  EXPECT_EQ(error->place().offset, static_cast<std::int64_t>(editor.offset(12) + layout::kPrecision));
  expect_error(ErrorKind::input, "C63-PRECISION", [&] { (void)decoder.frame(20); });
  EXPECT_EQ(decoder.frame_count(), 12);
  ASSERT_TRUE(decoder.fault());
  EXPECT_EQ(decoder.frame(3).index, 3);
}

TEST(SeekableDecoder, FaultsInScansAreThoseOfTheFramesThatAreNeeded) {
  StreamEditor editor(encoded(48, 32, HeaderSet::full));
  editor.set(7, layout::kScan, 0xFE);
  editor.set(7, layout::kScan + 1, 0xFE);
  const Bytes stream = editor.bytes();
  const Decoded expected = decode_stream(stream);
  ASSERT_TRUE(expected.error);
  ASSERT_EQ(expected.error->place().frame, 7);
  SeekableDecoder decoder(stream);
  for (const int frame : {7, 8, 9, 7}) {
    const auto error = expect_error(expected.error->kind(), expected.error->id().c_str(), [&] { (void)decoder.frame(frame); });
    EXPECT_EQ(error->place().frame, expected.error->place().frame);
    EXPECT_EQ(error->place().offset, expected.error->place().offset);
    EXPECT_EQ(decoder.frame(6).index, 6);
    EXPECT_EQ(decoder.frame(10).index, 10);
  }
}

TEST(SeekableDecoder, PastTheEnd) {
  const Bytes stream = encoded(48, 32, HeaderSet::full);
  SeekableDecoder decoder(stream);
  for (const std::int64_t frame : {std::int64_t{-1}, std::int64_t{kFrames}, INT64_MAX}) {
    expect_error(ErrorKind::usage, "C63-SEEK-RANGE", [&] { (void)decoder.frame(frame); });
    EXPECT_FALSE(decoder.has_frame(frame));
  }
  SeekableDecoder empty{std::span<const std::uint8_t>()};
  EXPECT_EQ(empty.frame_count(), 0);
  EXPECT_EQ(empty.width(), 0);
  expect_error(ErrorKind::usage, "C63-SEEK-RANGE", [&] { (void)empty.frame(0); });
}

TEST(SeekableDecoder, FilesAndPipes) {
  const Bytes stream = encoded(48, 32, HeaderSet::full);
  const TemporaryFolder folder;
  test::write_bytes(folder.file("in.c63"), stream);
  SeekableDecoder decoder(folder.file("in.c63"));
  EXPECT_EQ(decoder.frame(17).picture, decode_stream(stream).frames[17].picture);
  expect_error(ErrorKind::input, "C63-NOT-SEEKABLE", [&] { SeekableDecoder(std::make_unique<StreamSource>(stream)); });
}

TEST(SeekableDecoder, AFrameAfterSkippedFramesIsDecodedFromItsKeyFrame) {
  constexpr std::size_t kLong = 120;
  const Bytes stream = encode(moving_video(320, 192, kLong),
                              {.coding = {.width = 320, .height = 192, .key_interval = kLong, .search_range = 2}});
  const Decoded expected = decode_stream(stream);
  // While the key frame is decoded, some of the frames after it are read and skipped. Nobody knows how many.
  for (std::size_t wanted = 1; wanted < kLong; wanted += 1 + wanted / 4) {
    SeekableDecoder decoder(stream, {.execution = {.threads = 2}, .key_frames_only = true});
    std::vector<std::int64_t> shown;
    decoder.frames(0, 1, [&](const FrameView& view) { shown.push_back(view.index); });
    EXPECT_EQ(shown, std::vector<std::int64_t>{0});
    EXPECT_TRUE(decoder.frame(static_cast<std::int64_t>(wanted)).picture == expected.frames[wanted].picture) << wanted;
  }
}

TEST(SeekableDecoder, StopAndSinkThatThrowsLeaveItUsable) {
  const Bytes stream = varied_stream();
  const Decoded expected = decode_stream(stream);
  SeekableDecoder decoder(stream, {.execution = {.pool = pool_with(3)}});
  for (int frames = 1; frames < 9; ++frames) {
    std::stop_source stop;
    int seen = 0;
    const DecodeSummary summary = decoder.frames(2, -1, [&](const FrameView&) { if (++seen == frames) stop.request_stop(); }, stop.get_token());
    EXPECT_TRUE(summary.stopped);
    EXPECT_EQ(seen, frames);
    EXPECT_EQ(decoder.frame(2 + frames).picture, expected.frames[static_cast<std::size_t>(2 + frames)].picture);
    expect_error(ErrorKind::output, "TEST-FULL", [&] {
      decoder.frames(4, -1, [&](const FrameView& view) {
        if (view.index == 4 + frames) throw Error(ErrorKind::output, "TEST-FULL", "no space left");
      });
    });
    EXPECT_EQ(decoder.frame(5).picture, expected.frames[5].picture);
  }
}

}  // namespace
}  // namespace c63::test::seekable_decoder_test
