// Tests what the decoder offers in addition to correct pictures: ranges of frames, any source, stops, limits, and
// decoding frame by frame.

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <thread>

#include "support/coding.h"
#include "decode/cpu_decode_backend.h"
#include "support/expect_error.h"
#include "support/stream_editor.h"

namespace c63::test::decoder_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;
constexpr int kFrames = 23;
constexpr int kInterval = 4;

const Bytes& stream() {
  static const Bytes bytes = [] {
    EncoderSettings settings{.coding = {.width = kWidth, .height = kHeight}};
    settings.coding.key_interval = kInterval;
    return encode(moving_video(kWidth, kHeight, kFrames), settings);
  }();
  return bytes;
}

const Decoded& expected() {
  static const Decoded decoded = decode_stream(stream(), {.execution = {.threads = 1}, .keep_prediction = true, .keep_motion = true});
  return decoded;
}

TEST(Decoder, FirstFrameAndMaxFrames) {
  ASSERT_EQ(expected().frames.size(), static_cast<std::size_t>(kFrames));
  for (const int threads : {1, 3}) {
    for (int first = 0; first <= kFrames + 1; ++first) {
      for (const int count : {-1, 0, 1, 5, 100}) {
        const Decoded decoded = without_error(
            decode_stream(stream(), {.execution = {.threads = threads}, .first_frame = first, .max_frames = count}));
        const int left = std::max(0, kFrames - first);
        const int wanted = count < 0 ? left : std::min(left, count);
        ASSERT_EQ(decoded.frames.size(), static_cast<std::size_t>(wanted)) << first << " " << count;
        EXPECT_EQ(decoded.summary.frames, wanted);
        for (int i = 0; i < wanted; ++i) {
          const DecodedFrame& frame = decoded.frames[static_cast<std::size_t>(i)];
          EXPECT_EQ(frame.index, first + i);
          EXPECT_EQ(frame.picture, expected().frames[static_cast<std::size_t>(first + i)].picture);
          EXPECT_EQ(frame.offset, expected().frames[static_cast<std::size_t>(first + i)].offset);
        }
      }
    }
  }
}

TEST(Decoder, FaultAfterTheWantedFramesIsNotReached) {
  Bytes cut = stream();
  cut.resize(cut.size() - 10);
  EXPECT_FALSE(decode_stream(cut, {.max_frames = kFrames - 1}).error);
  EXPECT_TRUE(decode_stream(cut, {.max_frames = kFrames}).error);
  EXPECT_TRUE(decode_stream(cut, {.first_frame = kFrames}).error);
}

TEST(Decoder, FaultInAnyFrameDeliversEveryFrameBefore) {
  for (std::size_t broken = 0; broken < static_cast<std::size_t>(kFrames); ++broken) {
    for (const int threads : {1, 4}) {
      StreamEditor editor(stream());
      editor.set(broken, layout::kScan, 0xFE);  // a use_mv bit in a key frame; in any frame, soon an invalid code
      editor.set(broken, layout::kScan + 1, 0xFE);
      const Decoded decoded = decode_stream(editor.bytes(), {.execution = {.threads = threads}});
      if (!decoded.error) continue;
      EXPECT_EQ(decoded.error->place().frame, static_cast<std::int64_t>(broken)) << decoded.error->what();
      ASSERT_EQ(decoded.frames.size(), broken);
      for (std::size_t i = 0; i < broken; ++i) EXPECT_EQ(decoded.frames[i].picture, expected().frames[i].picture);
    }
  }
}

TEST(Decoder, SmallMemoryLimitGivesTheSamePictures) {
  DecoderSettings settings{.execution = {.threads = 4}, .keep_prediction = true};
  settings.execution.limits.max_memory = 64 << 10;
  const Decoded decoded = without_error(decode_stream(stream(), settings));
  EXPECT_EQ(decoded.pictures(), expected().pictures());
}

TEST(Decoder, ThreadsWithoutACpuAreNotStarted) {
  const int cpus = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_EQ(arena_of({.execution = {.threads = cpus + 5}})->concurrency(), cpus);
  EXPECT_EQ(arena_of({.execution = {.threads = 1}})->concurrency(), 1);
  EXPECT_EQ(arena_of({})->concurrency(), cpus);
  EXPECT_EQ(arena_of({.execution = {.arena = arena_with(cpus + 5)}})->concurrency(), cpus + 5);
}

TEST(Decoder, Stop) {
  for (const int threads : {1, 3}) {
    std::stop_source stop;
    StreamSource source(stream(), 1000);
    std::size_t frames = 0;
    const DecodeSummary summary = Decoder({.execution = {.arena = arena_with(threads)}})
                                      .decode(
                                          source,
                                          [&](DecodedFrame&& frame) {
                                            EXPECT_EQ(frame.picture, expected().frames[frames].picture);
                                            if (++frames == 5) stop.request_stop();
                                          },
                                          stop.get_token());
    EXPECT_TRUE(summary.stopped);
    EXPECT_EQ(frames, 5U);
    EXPECT_EQ(summary.frames, 5);
  }
}

TEST(Decoder, SinkThatThrowsEndsTheRun) {
  int frames = 0;
  expect_error(ErrorKind::output, "TEST-FULL", [&] {
    Decoder({.execution = {.arena = arena_with(3)}}).decode(stream(), [&](DecodedFrame&&) {
      if (++frames == 6) throw Error(ErrorKind::output, "TEST-FULL", "no space left");
    });
  });
  EXPECT_EQ(frames, 6);
}

TEST(Decoder, SourceThatThrowsAfterAFrameDeliversIt) {
  class Broken final : public ByteSource {
   public:
    [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) override {
      const std::size_t count = source_.read(bytes);
      if (count == 0) throw Error(ErrorKind::input, "TEST-BROKEN", "the disk is gone");
      return count;
    }

   private:
    StreamSource source_{std::span(stream()).first(StreamEditor(stream()).offset(7) + 30)};
  } source;
  const Decoded decoded = decode_stream(source, {.execution = {.threads = 2}});
  ASSERT_TRUE(decoded.error);
  EXPECT_EQ(decoded.error->id(), "TEST-BROKEN");
  EXPECT_EQ(decoded.frames.size(), 7U);
}

TEST(Decoder, KeepsPredictionAndMotionOnlyWhenAsked) {
  const Decoded plain = decode_stream(stream());
  for (const DecodedFrame& frame : plain.frames) {
    EXPECT_TRUE(frame.prediction.empty());
    EXPECT_TRUE(frame.motion[0].vectors.empty());
  }
  for (const DecodedFrame& frame : expected().frames) {
    EXPECT_EQ(frame.prediction.size(), frame.picture.size());
    EXPECT_EQ(frame.motion[0].vectors.empty(), frame.key);
    EXPECT_EQ(frame.prediction == Bytes(frame.picture.size()), frame.key);
  }
}

TEST(FrameDecoder, DecodesFrameByFrame) {
  FrameDecoder decoder({.keep_prediction = true});
  const StreamEditor editor(stream());
  for (std::size_t i = 0; i < editor.frames.size(); ++i) {
    const DecodedFrame frame = decoder.decode(editor.frames[i]);
    EXPECT_EQ(frame.picture, expected().frames[i].picture);
    EXPECT_EQ(frame.prediction, expected().frames[i].prediction);
    EXPECT_EQ(frame.index, static_cast<std::int64_t>(i));
    EXPECT_EQ(frame.offset, expected().frames[i].offset);
    EXPECT_EQ(frame.coded_bytes, editor.frames[i].size());
  }
}

TEST(FrameDecoder, NamesTheFrameOfAFault) {
  FrameDecoder decoder;
  StreamEditor editor(stream());
  (void)decoder.decode(editor.frames[0]);
  editor.set(1, layout::kPrecision, 9);
  const auto error = expect_error(ErrorKind::input, "C63-PRECISION", [&] { (void)decoder.decode(editor.frames[1]); });
  EXPECT_EQ(error->place().frame, 1);
  EXPECT_EQ(error->place().offset, static_cast<std::int64_t>(layout::kPrecision));
  Bytes two = editor.frames[4];
  two.push_back(0);
  expect_error(ErrorKind::input, "C63-FRAME-TRAILING", [&] { (void)decoder.decode(two); });
}

TEST(FrameDecoder, HoldsTheMemoryLimit) {
  DecoderSettings settings;
  settings.execution.limits.max_memory = 10000;
  FrameDecoder decoder(settings);
  const StreamEditor editor(stream());
  expect_error(ErrorKind::limit, "C63-MAX-MEMORY", [&] { (void)decoder.decode(editor.frames[0]); });
}

}  // namespace
}  // namespace c63::test::decoder_test
