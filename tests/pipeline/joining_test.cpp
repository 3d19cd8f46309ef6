// Tests a device that joins an encode. The bytes must be the same whenever it joins, and whether or not it takes over
// frames. This must also be true if it never becomes ready or fails.

#include "c63/joining_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/encode_session.h"
#include "cpu/cpu_backend.h"
#include "pipeline/coding.h"
#include "pipeline/failing_backend.h"
#include "encode/worth_joining.h"

namespace c63::test::joining_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;
constexpr int kFrames = 23;
constexpr JoiningDevice::Worth kAlways{.starting_ms = 0, .opening_ms = 0};

using Kind = VideoSource::Kind;

/// The CPU backend, which returns `frames` frames and then waits until it is abandoned. So the joining device must code
/// all other frames.
class StallingBackend final : public Backend {
 public:
  StallingBackend(const ResolvedEncode& encode, int max_chains, int frames)
      : backend_(cpu::make_cpu_backend(encode, max_chains)), left_(frames) {}

  [[nodiscard]] const BackendInfo& info() const override { return backend_->info(); }
  [[nodiscard]] std::span<std::uint8_t> input(int chain) override { return backend_->input(chain); }
  void submit(std::span<const ChainFrame> frames) override { backend_->submit(frames); }
  void collect(std::vector<ChainResult>& finished) override {
    if (left_-- == 0) {
      std::unique_lock lock(mutex_);
      abandoned_.wait(lock, [this] { return is_abandoned_; });
      return;
    }
    while (waiting_.empty()) {
      {
        const std::lock_guard lock(mutex_);
        if (is_abandoned_) return;
      }
      backend_->collect(waiting_);
    }
    finished.push_back(std::move(waiting_.front()));
    waiting_.erase(waiting_.begin());
  }
  void drop() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      is_abandoned_ = true;
    }
    abandoned_.notify_all();
    backend_->drop();
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::vector<ChainResult> waiting_;
  int left_;
  std::mutex mutex_;
  std::condition_variable abandoned_;
  bool is_abandoned_ = false;
};

BackendFactory stalling_after(int frames) {
  return [frames](const ResolvedEncode& encode, int max_chains) -> std::unique_ptr<Backend> {
    return std::make_unique<StallingBackend>(encode, max_chains, frames);
  };
}

EncoderSettings settings_of(Preset preset = Preset::reference) {
  EncoderSettings settings{.coding = {.width = kWidth, .height = kHeight, .preset = preset}};
  settings.coding.key_interval = 4;
  settings.coding.search_range = search_range_of(preset);
  settings.execution.lanes = 3;
  settings.execution.threads = 2;
  settings.measurement.keep_reconstruction = true;
  return settings;
}

const Bytes& video() {
  static const Bytes frames = moving_video(kWidth, kHeight, kFrames);
  return frames;
}

Encoded encode_alone(EncoderSettings settings) {
  settings.execution.lanes = settings.execution.threads = 1;
  VideoSource source(video(), kWidth, kHeight);
  return encode_source(source, settings);
}

std::shared_ptr<JoiningDevice> ready_at_once(BackendFactory factory = cpu::make_cpu_backend) {
  auto device = std::make_shared<JoiningDevice>([factory] { return factory; }, kAlways);
  device->begin();
  return device;
}

TEST(Joining, GivesTheSameBytesAfterEveryFrame) {
  const Encoded expected = encode_alone(settings_of());
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (const int lanes : {0, 1, 3}) {
      for (int after = 0; after <= kFrames; ++after) {
        EncoderSettings settings = settings_of();
        settings.execution.lanes = lanes;
        std::counting_semaphore<> may_join(0);
        const auto device = std::make_shared<JoiningDevice>(
            [&] {
              may_join.acquire();
              return BackendFactory(cpu::make_cpu_backend);
            },
            kAlways);
        Encoder encoder(settings);
        encoder.set_joining(device, [](const std::string& problem) { FAIL() << problem; });
        VideoSource source(video(), kWidth, kHeight, kind);
        Encoded encoded;
        if (after == 0) may_join.release();
        encoded.summary = encoder.encode(source, [&](EncodedFrame&& frame) {
          encoded.frames.push_back(std::move(frame));
          if (static_cast<int>(encoded.frames.size()) == after) may_join.release();
        });
        expect_first_frames_of(expected, encoded, kFrames);
        EXPECT_EQ(encoded.summary.frames, kFrames);
        std::int64_t frames = 0;
        std::int64_t gops = 0;
        for (const DeviceShare& share : encoded.summary.devices) {
          frames += share.frames;
          gops += share.gops;
        }
        EXPECT_EQ(frames, kFrames);
        EXPECT_EQ(gops, 6);
        may_join.release();  // lets the thread that starts the device end, if it still waits
      }
    }
  }
}

TEST(Joining, TakesOverWhatADeviceLeaves) {
  for (const Preset preset : {Preset::reference, Preset::good, Preset::best}) {
    const Encoded expected = encode_alone(settings_of(preset));
    for (const Kind kind : {Kind::file, Kind::pipe}) {
      for (int frames = 0; frames < kFrames; ++frames) {
        Encoder encoder(settings_of(preset), stalling_after(frames));
        encoder.set_joining(ready_at_once(), [](const std::string& problem) { FAIL() << problem; });
        VideoSource source(video(), kWidth, kHeight, kind);
        const Encoded encoded = without_error(encode_source(source, encoder));
        expect_first_frames_of(expected, encoded, kFrames);
        EXPECT_EQ(encoded.reconstructions(), expected.reconstructions());
        ASSERT_EQ(encoded.summary.devices.size(), 2U);
        EXPECT_LE(encoded.summary.devices[0].frames, frames);
        EXPECT_EQ(encoded.summary.devices[0].frames + encoded.summary.devices[1].frames, kFrames);
      }
    }
  }
}

TEST(Joining, TakesOverAtSceneCuts) {
  EncoderSettings settings = settings_of();
  settings.coding.scene_cuts = true;
  const Encoded expected = encode_alone(settings);
  for (int frames = 0; frames < kFrames; frames += 3) {
    Encoder encoder(settings, stalling_after(frames));
    encoder.set_joining(ready_at_once(), nullptr);
    VideoSource source(video(), kWidth, kHeight);
    const Encoded encoded = without_error(encode_source(source, encoder));
    expect_first_frames_of(expected, encoded, kFrames);
  }
}

TEST(Joining, IsNotWaitedFor) {
  const Encoded expected = encode_alone(settings_of());
  std::counting_semaphore<> encode_has_ended(0);
  const auto device = std::make_shared<JoiningDevice>(
      [&] {
        encode_has_ended.acquire();
        return BackendFactory(cpu::make_cpu_backend);
      },
      kAlways);
  Encoder encoder(settings_of());
  encoder.set_joining(device, [](const std::string& problem) { FAIL() << problem; });
  device->begin();
  VideoSource source(video(), kWidth, kHeight);
  const Encoded encoded = encode_source(source, encoder);
  expect_first_frames_of(expected, encoded, kFrames);
  EXPECT_TRUE(device->is_starting());
  EXPECT_EQ(encoded.summary.devices.size(), 1U);
  encode_has_ended.release();
}

TEST(Joining, ThatFailsToStartOrOpenLeavesTheEncodeAlone) {
  const Encoded expected = encode_alone(settings_of());
  const auto fails_to_start = std::make_shared<JoiningDevice>(
      []() -> BackendFactory { throw Error(ErrorKind::device, "TEST-NO-DRIVER", "there is no driver"); }, kAlways);
  fails_to_start->begin();
  for (const auto& device : {fails_to_start, ready_at_once(failing_after(-1))}) {
    Encoder encoder(settings_of());
    std::vector<std::string> problems;
    encoder.set_joining(device, [&](const std::string& problem) { problems.push_back(problem); });
    encoder.set_fallback(cpu::make_cpu_backend, [](const std::string&) { FAIL(); });
    VideoSource source(video(), kWidth, kHeight);
    const Encoded encoded = without_error(encode_source(source, encoder));
    expect_first_frames_of(expected, encoded, kFrames);
    EXPECT_LE(problems.size(), 1U);  // the encode may end before the problem is known
  }
  // The encode's only device fails at its first frame, and the joining device does not even start. The fallback must
  // then code all frames.
  Encoder encoder(settings_of(), failing_after(0));
  std::vector<std::string> problems;
  encoder.set_joining(fails_to_start, [&](const std::string& problem) { problems.push_back(problem); });
  encoder.set_fallback(cpu::make_cpu_backend, nullptr);
  VideoSource source(video(), kWidth, kHeight);
  expect_first_frames_of(expected, encode_source(source, encoder), kFrames);
}

TEST(Joining, ThatFailsLaterIsReplacedByTheFallback) {
  const Encoded expected = encode_alone(settings_of());
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (int stalled = 0; stalled < kFrames; stalled += 4) {
      for (int frames = 0; frames < 10; ++frames) {
        Encoder encoder(settings_of(), stalling_after(stalled));
        encoder.set_joining(ready_at_once(failing_after(frames)), [](const std::string& problem) { FAIL() << problem; });
        std::vector<std::string> reasons;
        encoder.set_fallback(cpu::make_cpu_backend, [&](const std::string& reason) { reasons.push_back(reason); });
        VideoSource source(video(), kWidth, kHeight, kind);
        const Encoded encoded = without_error(encode_source(source, encoder));
        expect_first_frames_of(expected, encoded, kFrames);
        EXPECT_LE(reasons.size(), 1U);
      }
    }
  }
}

TEST(Joining, StopLeavesTheFirstFrames) {
  const Encoded expected = encode_alone(settings_of());
  for (const Kind kind : {Kind::file, Kind::pipe}) {
    for (int after = 1; after < kFrames; ++after) {
      std::stop_source stop;
      Encoder encoder(settings_of());
      encoder.set_joining(ready_at_once(), nullptr);
      VideoSource source(video(), kWidth, kHeight, kind);
      Encoded encoded;
      encoded.summary = encoder.encode(
          source,
          [&](EncodedFrame&& frame) {
            encoded.frames.push_back(std::move(frame));
            if (static_cast<int>(encoded.frames.size()) == after) stop.request_stop();
          },
          stop.get_token());
      EXPECT_GE(encoded.frames.size(), static_cast<std::size_t>(after));
      expect_first_frames_of(expected, encoded, encoded.frames.size());
      EXPECT_TRUE(encoded.summary.stopped);
    }
  }
}

TEST(Joining, KeptDevicesAreTheOnesThatJoined) {
  EncoderSettings settings = settings_of();
  settings.execution.keep_devices = true;
  const Encoded expected = encode_alone(settings_of());
  std::atomic<int> opened = 0;
  Encoder encoder(settings, stalling_after(5));
  encoder.set_joining(ready_at_once([&](const ResolvedEncode& encode, int max_chains) {
                        ++opened;
                        return cpu::make_cpu_backend(encode, max_chains);
                      }),
                      nullptr);
  for (int i = 0; i < 3; ++i) {
    VideoSource source(video(), kWidth, kHeight);
    const Encoded encoded = without_error(encode_source(source, encoder));
    expect_first_frames_of(expected, encoded, kFrames);
  }
  EXPECT_GE(opened, 1);
}

TEST(Joining, StartsOnceForAllEncodes) {
  std::atomic<int> started = 0;
  const auto device = std::make_shared<JoiningDevice>(
      [&] {
        ++started;
        return BackendFactory(cpu::make_cpu_backend);
      },
      kAlways);
  device->begin();
  device->begin();
  EXPECT_TRUE(device->wait({}).has_value());
  EXPECT_TRUE(device->ready().has_value());
  EXPECT_FALSE(device->is_starting());
  EXPECT_EQ(started, 1);
}

TEST(Joining, TimeLeftIsTheLeastAnyCpuNeedsUntilItIsMeasured) {
  TimeLeft time_left({.frames = 3000, .frame_blocks = 2376, .chains = 10, .threads = 16});
  EXPECT_NEAR(time_left.estimate(0, 1), 3000.0 * 2376 / (2200.0 * 16), 1e-6);
  EXPECT_LT(time_left.estimate(20, 500), 210) << "what a chain's first frames take is not measured";
  EXPECT_LT(time_left.estimate(59, 510), 210);
  EXPECT_DOUBLE_EQ(time_left.estimate(1020, 600), 198);
  EXPECT_EQ(time_left.estimate(3001, 700), 0) << "frames may be encoded twice";
  TimeLeft best({.frames = 3000, .frame_blocks = 2376, .preset = Preset::best, .chains = 10, .threads = 16});
  EXPECT_GT(best.estimate(0, 1), 2000);
  TimeLeft live({.frames = std::nullopt, .frame_blocks = 2376, .chains = 10, .threads = 16});
  EXPECT_EQ(live.estimate(100, 50), 50) << "as much is left as was seen";
}

TEST(Joining, APushSessionTakesAnEncoderWithAllThatItWasGiven) {
  const Encoded expected = encode_alone(settings_of());
  Encoder encoder(settings_of());
  encoder.set_joining(ready_at_once(), [](const std::string& problem) { FAIL() << problem; });
  EncodeSession session(std::move(encoder));
  const std::size_t bytes = frame_bytes(kWidth, kHeight);
  for (std::size_t i = 0; i < static_cast<std::size_t>(kFrames); ++i) session.push(std::span(video()).subspan(i * bytes, bytes));
  session.finish();
  Encoded encoded;
  while (auto frame = session.wait()) encoded.frames.push_back(std::move(*frame));
  expect_first_frames_of(expected, encoded, kFrames);
}

}  // namespace
}  // namespace c63::test::joining_test
