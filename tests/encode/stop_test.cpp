// Tests which frames are coded after a stop. From a file: only the frames that devices already work on. From a live
// source: all frames that were read. After a drop: no more frames are coded.

#include <gtest/gtest.h>

#include <future>
#include <stop_token>
#include <thread>

#include "c63/encode_session.h"
#include "encode/backends.h"
#include "support/coding.h"
#include "support/expect_error.h"

namespace c63::test::stop_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;
constexpr int kFrames = 30;

const Bytes& video() {
  static const Bytes frames = moving_video(kWidth, kHeight, kFrames);
  return frames;
}

EncoderSettings stop_settings(int lanes, Preset preset = Preset::reference) {
  EncoderSettings settings = {.coding = {.width = kWidth, .height = kHeight, .key_interval = 10},
                              .execution = {.threads = 2, .lanes = lanes}};
  settings.coding.preset = preset;
  return settings;
}

/// A source that can only be read in order, and whose frames are all available at once.
class InOrder final : public VideoSource {
 public:
  explicit InOrder(bool live) : VideoSource(video(), kWidth, kHeight, Kind::pipe), live_(live) {}

  [[nodiscard]] bool live() const override { return live_; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (VideoSource::read(index, frame)) return true;
    all_read_.set_value();
    return false;
  }
  void wait_until_all_is_read() { all_read_.get_future().wait(); }

 private:
  bool live_;
  std::promise<void> all_read_;
};

/// Encodes in a thread of its own. The device returns no coded frame until the gate is open.
class StoppedEncode {
 public:
  StoppedEncode(const EncoderSettings& settings, FrameSource& source) : encoder_(settings, wrapped_cpu<GatedBackend>(gate)) {
    encoder_.set_on_drain([this](std::int64_t frames) { drained = frames; });
    thread_ = std::jthread([this, &source] {
      result.summary = encoder_.encode(source, [this](EncodedFrame&& frame) { result.frames.push_back(std::move(frame)); },
                                       stop.get_token(), drop.get_token());
    });
  }
  void wait() { thread_.join(); }

  Gate gate;
  std::stop_source stop;
  std::stop_source drop;
  std::int64_t drained = 0;
  Encoded result;

 private:
  Encoder encoder_;
  std::jthread thread_;
};

Encoded whole(const EncoderSettings& settings) {
  VideoSource source(video(), kWidth, kHeight);
  return encode_source(source, settings);
}

/// Stops the encode when its source has been read to the end and a device has a frame, and waits for its end.
void stop_when_all_is_read(StoppedEncode& encode, InOrder& source) {
  source.wait_until_all_is_read();
  encode.gate.wait_for_submitted(1);
  encode.stop.request_stop();
  encode.gate.open();
  encode.wait();
}

TEST(Stop, OfAContainerLeavesTheFramesThatDevicesHave) {
  for (const Preset preset : {Preset::reference, Preset::good, Preset::best}) {
    for (const int lanes : {1, 2}) {
      const EncoderSettings settings = stop_settings(lanes, preset);
      InOrder source(false);
      StoppedEncode encode(settings, source);
      stop_when_all_is_read(encode, source);
      EXPECT_TRUE(encode.result.summary.stopped);
      EXPECT_EQ(encode.drained, 0);
      EXPECT_GE(encode.result.frames.size(), 1U);
      // Devices work on at most three frames of a chain at the same time.
      EXPECT_LE(encode.gate.submitted(), 3 * lanes);
      expect_first_frames_of(whole(settings), encode.result, encode.result.frames.size());
    }
  }
}

TEST(Stop, OfALiveSourceCodesAllThatWasRead) {
  for (const int lanes : {1, 2}) {
    const EncoderSettings settings = stop_settings(lanes);
    InOrder source(true);
    StoppedEncode encode(settings, source);
    stop_when_all_is_read(encode, source);
    EXPECT_EQ(encode.drained, kFrames);
    EXPECT_TRUE(encode.result.summary.stopped);
    expect_first_frames_of(whole(settings), encode.result, kFrames);
  }
}

TEST(Stop, ADropCodesNothingMore) {
  for (const bool live : {false, true}) {
    for (const bool stopped_before : {false, true}) {
      InOrder source(live);
      StoppedEncode encode(stop_settings(2), source);
      source.wait_until_all_is_read();
      encode.gate.wait_for_submitted(1);
      if (stopped_before) encode.stop.request_stop();
      encode.drop.request_stop();
      encode.wait();  // ends although the gate stays closed
      EXPECT_TRUE(encode.result.summary.stopped);
      EXPECT_TRUE(encode.result.frames.empty());
    }
  }
}

TEST(Stop, ADropLeavesWhatIsCodedInOrder) {
  for (const std::size_t wanted : {1U, 5U, 11U}) {
    const EncoderSettings settings = stop_settings(3);
    VideoSource source(video(), kWidth, kHeight, VideoSource::Kind::pipe);
    std::stop_source drop;
    Encoded result;
    Encoder encoder(settings);
    result.summary = encoder.encode(
        source,
        [&](EncodedFrame&& frame) {
          result.frames.push_back(std::move(frame));
          if (result.frames.size() == wanted) drop.request_stop();
        },
        {}, drop.get_token());
    EXPECT_TRUE(result.summary.stopped);
    EXPECT_GE(result.frames.size(), wanted);
    expect_first_frames_of(whole(settings), result, result.frames.size());
  }
}

TEST(Stop, DevicesThatWereDroppedAreNotUsedAgain) {
  EncoderSettings settings = stop_settings(2);
  settings.execution.keep_devices = true;
  Encoder encoder(settings);
  for (int round = 0; round < 3; ++round) {
    VideoSource source(video(), kWidth, kHeight, VideoSource::Kind::pipe);
    std::stop_source drop;
    (void)encoder.encode(source, [&](EncodedFrame&&) { drop.request_stop(); }, {}, drop.get_token());
    VideoSource again(video(), kWidth, kHeight);
    EXPECT_EQ(encode_source(again, encoder).frames.size(), std::size_t{kFrames});
  }
}

std::span<const std::uint8_t> frame(std::size_t index) {
  const std::size_t size = frame_bytes(kWidth, kHeight);
  return std::span(video()).subspan(index * size, size);
}

TEST(Stop, TheEndOfASessionDropsWhatWaits) {
  Gate gate;
  {
    EncodeSession session(stop_settings(1), {wrapped_cpu<GatedBackend>(gate)});
    for (std::size_t i = 0; i < kFrames; ++i) session.push(frame(i));
  }
  EXPECT_LE(gate.submitted(), 3);
}

TEST(Stop, ClosingASessionEndsCallsThatWait) {
  Gate gate;
  EncodeSession session(stop_settings(1), {wrapped_cpu<GatedBackend>(gate)});
  session.push(frame(0));
  std::optional<EncodedFrame> coded;
  std::jthread waiting([&] { coded = session.wait(); });
  gate.wait_for_submitted(1);
  session.close();
  waiting.join();
  EXPECT_FALSE(coded);
  EXPECT_TRUE(session.summary().stopped);
  expect_error(ErrorKind::usage, "C63-SESSION-FINISHED", [&] { session.push(frame(1)); });
}

}  // namespace
}  // namespace c63::test::stop_test
