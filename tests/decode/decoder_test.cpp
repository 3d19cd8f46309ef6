// Tests what the decoder offers in addition to correct pictures: ranges of frames, any source, stops, limits, and
// decoding frame by frame.

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <stop_token>
#include <thread>

#include "decode/cpu_decode_backend.h"
#include "support/coding.h"
#include "support/compact_stream.h"
#include "support/expect_error.h"
#include "support/host_decode_backend.h"
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

/// A stream with frames of all kinds.
const Bytes& stream_of_all_kinds() {
  static const Bytes bytes = [] {
    CompactStreamWriter writer(48, 32, 77);
    writer.add_any(40, 8);
    return writer.bytes();
  }();
  return bytes;
}

#if defined(C63_SANITIZED)
constexpr int kStep = 5;
#else
constexpr int kStep = 1;
#endif

TEST(Decoder, RangesOfFrames) {
  for (const Bytes& bytes : {stream(), stream_of_all_kinds()}) {
    const std::vector<DecodedFrame> all = without_error(decode_stream(bytes, {.execution = {.threads = 1}})).frames;
    const int frames = static_cast<int>(all.size());
    ASSERT_GE(frames, kFrames);
    SeekableDecoder seekable(bytes, {.execution = {.pool = pool_with(2)}});
    for (int first = 0; first <= frames + 1; first += kStep) {
      for (const int count : {-1, 0, 1, 5, 100}) {
        SCOPED_TRACE(testing::Message() << first << ", " << count << " frames");
        const int left = std::max(0, frames - first);
        const int wanted = count < 0 ? left : std::min(left, count);
        for (const int threads : {1, 3}) {
          const Decoded decoded = without_error(
              decode_stream(bytes, {.execution = {.threads = threads}, .first_frame = first, .max_frames = count}));
          ASSERT_EQ(decoded.frames.size(), static_cast<std::size_t>(wanted));
          EXPECT_EQ(decoded.summary.frames, wanted);
          if (wanted > 0) {
            EXPECT_EQ(std::pair(decoded.summary.width, decoded.summary.height), std::pair(kWidth, kHeight));
          }
          for (int i = 0; i < wanted; ++i) {
            const DecodedFrame& frame = decoded.frames[static_cast<std::size_t>(i)];
            const DecodedFrame& expected = all[static_cast<std::size_t>(first + i)];
            EXPECT_EQ(frame.index, first + i);
            EXPECT_EQ(frame.picture, expected.picture);
            EXPECT_EQ(frame.offset, expected.offset);
          }
        }
        if (left == 0) continue;
        int next = first;
        const DecodeSummary summary = seekable.frames(first, count, [&](const FrameView& view) {
          ASSERT_EQ(view.index, next);
          Bytes picture;
          for (const auto& plane : view.picture) picture.insert(picture.end(), plane.begin(), plane.end());
          EXPECT_EQ(picture, all[static_cast<std::size_t>(next++)].picture);
        });
        EXPECT_EQ(next - first, wanted);
        EXPECT_EQ(summary.frames, wanted);
      }
    }
  }
}

TEST(Decoder, EveryTruncationPoint) {
  CompactStreamWriter writer(16, 16, 5);
  writer.add_any(9, 8);
  const auto has = [&](auto is_kind) { return std::ranges::any_of(writer.frames(), is_kind); };
  EXPECT_TRUE(has([](const CompactFrame& f) { return f.repeat; }));
  EXPECT_TRUE(has([](const CompactFrame& f) { return !f.repeat && f.syntax.key; }));
  EXPECT_TRUE(has([](const CompactFrame& f) { return !f.repeat && !f.headers.has_sof; }));
  EXPECT_TRUE(has([](const CompactFrame& f) { return !f.repeat && f.headers.has_sof && !f.syntax.key; }));
  const auto three_frames = std::span(stream()).first(StreamEditor(stream()).offset(3));
  for (const Bytes& bytes : {writer.bytes(), Bytes(three_frames.begin(), three_frames.end())}) {
    const std::vector<DecodedFrame> all = without_error(decode_stream(bytes)).frames;
    std::size_t whole = 0;
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      const bool at_border = size == all[whole].offset + all[whole].coded_bytes;
      if (at_border) ++whole;
      const Decoded decoded = decode_stream(std::span(bytes).first(size), {.execution = {.threads = 1}});
      ASSERT_EQ(decoded.frames.size(), whole) << size;
      for (std::size_t i = 0; i < whole; ++i) ASSERT_EQ(decoded.frames[i].picture, all[i].picture);
      ASSERT_EQ(decoded.error.has_value(), !at_border) << size;
      if (!decoded.error) continue;
      ASSERT_EQ(decoded.error->id(), "C63-TRUNCATED") << size << ": " << decoded.error->what();
      ASSERT_EQ(decoded.error->kind(), ErrorKind::input);
      ASSERT_EQ(decoded.error->place().frame, static_cast<std::int64_t>(whole));
      ASSERT_EQ(decoded.error->place().offset, static_cast<std::int64_t>(size));
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
  int faults = 0;
  for (std::size_t broken = 0; broken < static_cast<std::size_t>(kFrames); ++broken) {
    for (const int threads : {1, 4}) {
      StreamEditor editor(stream());
      editor.set(broken, layout::kScan, 0xFE);  // a use_mv bit in a key frame; in any frame, soon an invalid code
      editor.set(broken, layout::kScan + 1, 0xFE);
      const Decoded decoded = decode_stream(editor.bytes(), {.execution = {.threads = threads}});
      if (!decoded.error) continue;  // the changed scan happens to be valid
      ++faults;
      EXPECT_EQ(decoded.error->place().frame, static_cast<std::int64_t>(broken)) << decoded.error->what();
      ASSERT_EQ(decoded.frames.size(), broken);
      for (std::size_t i = 0; i < broken; ++i) EXPECT_EQ(decoded.frames[i].picture, expected().frames[i].picture);
    }
  }
  EXPECT_GT(faults, kFrames);
}

TEST(Decoder, SmallMemoryLimitGivesTheSamePictures) {
  DecoderSettings settings{.execution = {.threads = 4}, .keep_prediction = true};
  settings.execution.limits.max_memory = 64 << 10;
  const Decoded decoded = without_error(decode_stream(stream(), settings));
  EXPECT_EQ(decoded.pictures(), expected().pictures());
}

/// Keeps one thread of a pool busy until `end` is counted down.
struct BusyTask : ThreadPool::Task {
  BusyTask() {
    run = [](ThreadPool::Task& task) noexcept { static_cast<BusyTask&>(task).end.wait(); };
  }
  std::latch end{1};
};

TEST(Decoder, CodedFramesThatWaitTakeAQuarterOfTheMemoryLimit) {
  const Bytes large = encode(extreme_video(kWidth, kHeight, 12),
                             {.coding = {.width = kWidth, .height = kHeight, .qp = 50, .key_interval = 1}});
  DecoderSettings settings;
  settings.execution.limits.max_memory = 100'000;
  BusyTask busy;
  const auto pool = pool_with(1);
  CpuDecodeBackend backend(settings, pool);
  pool->post(busy);
  MemoryBytes source(large);
  StreamReader reader(source, settings.execution.limits);
  backend.open(Geometry(kWidth, kHeight), settings.execution.limits.max_memory, {});
  std::size_t all = 0;
  std::size_t last = 0;
  while (backend.has_room()) {
    auto frame = reader.next();
    ASSERT_TRUE(frame);
    all += last = frame->bytes.size();
    backend.submit(std::move(*frame), 1, true);
  }
  busy.end.count_down();
  EXPECT_GE(all, settings.execution.limits.max_memory / 4);
  EXPECT_LT(all - last, settings.execution.limits.max_memory / 4);
}

TEST(Decoder, ThreadsWithoutACpuAreNotStarted) {
  const int cpus = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_EQ(pool_of({.execution = {.threads = cpus + 5}})->concurrency(), cpus);
  EXPECT_EQ(pool_of({.execution = {.threads = 1}})->concurrency(), 1);
  EXPECT_EQ(pool_of({})->concurrency(), cpus);
  EXPECT_EQ(pool_of({.execution = {.pool = pool_with(cpus + 5)}})->concurrency(), cpus + 5);
}

TEST(Decoder, Stop) {
  for (const int threads : {1, 3}) {
    std::stop_source stop;
    StreamSource source(stream(), 1000);
    std::size_t frames = 0;
    const DecodeSummary summary = Decoder({.execution = {.pool = pool_with(threads)}})
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
    Decoder({.execution = {.pool = pool_with(3)}}).decode(stream(), [&](DecodedFrame&&) {
      if (++frames == 6) throw Error(ErrorKind::output, "TEST-FULL", "no space left");
    });
  });
  EXPECT_EQ(frames, 6);
}

TEST(Decoder, AFrameThatADeviceLosesIsAnError) {
  for (const std::int64_t lost : {1, 5}) {
    const Decoded decoded = decode_stream(stream(), {.device = std::make_shared<HostDecodeBackend>(5, -1, lost)});
    expect_failed(decoded, ErrorKind::internal, "C63-FRAMES-LOST");
    EXPECT_EQ(decoded.frames.size() + 1, expected().frames.size());
  }
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
  expect_failed(decoded, ErrorKind::input, "TEST-BROKEN");
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
