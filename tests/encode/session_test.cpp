// Tests encodes in which the caller pushes frames one by one. They must give the bytes of encode(). If a device fails,
// the next call of push(), wait() or poll() must throw the error.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "c63/encode_session.h"
#include "encode/backends.h"
#include "support/coding.h"
#include "support/expect_error.h"

namespace c63::test::session_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;
constexpr std::size_t kFrames = 23;

EncoderSettings settings_with(int lanes) {
  return {.coding = {.width = kWidth, .height = kHeight, .key_interval = 4}, .execution = {.threads = 2, .lanes = lanes}};
}

const Bytes& video() {
  static const Bytes frames = moving_video(kWidth, kHeight, kFrames);
  return frames;
}

std::span<const std::uint8_t> frame(std::size_t index) {
  const std::size_t size = frame_bytes(kWidth, kHeight);
  return std::span(video()).subspan(index * size, size);
}

void append(Bytes& stream, const std::optional<EncodedFrame>& coded) {
  if (coded) stream.insert(stream.end(), coded->bytes.begin(), coded->bytes.end());
}

TEST(Session, GivesTheBytesOfEncode) {
  const Bytes expected = encode(video(), settings_with(1));
  for (const int lanes : {0, 1, 3}) {
    for (const bool polls : {true, false}) {
      EncodeSession session(settings_with(lanes));
      Bytes stream;
      for (std::size_t i = 0; i < kFrames; ++i) {
        session.push(frame(i));
        if (polls) append(stream, session.poll());
      }
      session.finish();
      EXPECT_EQ(session.summary().frames, static_cast<std::int64_t>(kFrames));
      while (const auto coded = session.wait()) append(stream, coded);
      EXPECT_EQ(stream, expected) << lanes << " " << polls;
      EXPECT_FALSE(session.poll());
    }
  }
}

TEST(Session, EveryFrameCanBeWaitedForBeforeTheNextIsPushed) {
  EncodeSession session(settings_with(0));
  for (std::size_t i = 0; i < kFrames; ++i) {
    session.push(frame(i));
    const auto coded = session.wait();
    ASSERT_TRUE(coded);
    EXPECT_EQ(coded->index, static_cast<std::int64_t>(i));
  }
  session.finish();
  EXPECT_FALSE(session.wait());
}

TEST(Session, AnotherThreadMayTake) {
  EncodeSession session(settings_with(2));
  Bytes stream;
  std::jthread taker([&] {
    while (const auto coded = session.wait()) append(stream, coded);
  });
  for (std::size_t i = 0; i < kFrames; ++i) session.push(frame(i));
  session.finish();
  taker.join();
  EXPECT_EQ(stream, encode(video(), settings_with(1)));
}

TEST(Session, RefusesImpossibleCalls) {
  expect_error(ErrorKind::usage, "C63-SIZE-ZERO", [] { EncodeSession session(EncoderSettings{}); });
  EncodeSession session(settings_with(1));
  expect_error(ErrorKind::usage, "C63-FRAME-SIZE", [&] { session.push(frame(0).first(5)); });
  session.push(frame(0));
  session.finish();
  expect_error(ErrorKind::usage, "C63-SESSION-FINISHED", [&] { session.push(frame(1)); });
  ASSERT_TRUE(session.wait());
  EXPECT_FALSE(session.wait());
}

TEST(Session, ADeviceThatFailsEndsAWaitWithoutAnotherPush) {
  EncodeSession session(settings_with(1), {failing_after(0)});
  session.push(frame(0));
  expect_error(ErrorKind::device, "TEST-DEVICE-LOST", [&] { (void)session.wait(); });
}

TEST(Session, ADeviceThatFailsEndsPushAndPoll) {
  EncodeSession session(settings_with(1), {failing_after(3)});
  std::size_t pushed = 0;
  expect_error(ErrorKind::device, "TEST-DEVICE-LOST", [&] {
    for (;; ++pushed) session.push(frame(pushed % kFrames));
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(session.wait());
  expect_error(ErrorKind::device, "TEST-DEVICE-LOST", [&] { (void)session.wait(); });
  expect_error(ErrorKind::device, "TEST-DEVICE-LOST", [&] { (void)session.poll(); });
}

/// Fails at its first frame. Closing it takes long, and `is_closing` says when that begins.
class SlowToClose final : public WrappedBackend {
 public:
  SlowToClose(std::unique_ptr<Backend> inner, std::atomic<bool>& is_closing) : WrappedBackend(std::move(inner)), is_closing_(is_closing) {}
  ~SlowToClose() override {
    is_closing_ = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }

 private:
  std::atomic<bool>& is_closing_;
};

// The device fails, and the source ends before the session knows the error. A push in between must not return as if its
// frame were taken.
TEST(Session, PushNeverReturnsWithItsFrameDropped) {
  std::atomic<bool> is_closing = false;
  EncodeSession session(settings_with(1), {[&](const ResolvedEncode& encode, int max_chains) -> std::unique_ptr<Backend> {
                          return std::make_unique<SlowToClose>(failing_after(0)(encode, max_chains), is_closing);
                        }});
  expect_error(ErrorKind::device, "TEST-DEVICE-LOST", [&] {
    for (std::size_t i = 0;; ++i) {
      const bool had_failed = is_closing;
      session.push(frame(i % kFrames));
      if (had_failed) FAIL() << "a frame was pushed after the device had failed";
    }
  });
}

}  // namespace
}  // namespace c63::test::session_test
