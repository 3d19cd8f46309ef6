// Tests that frames of slow input are coded while they arrive. No frame may wait for input that it does not need.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "backend/backend.h"
#include "support/coding.h"

namespace c63::test::live_test {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;

/// A source like a camera. Frame `index` arrives only after the coded frame `index` - 2 has been delivered.
class LiveSource final : public VideoSource {
 public:
  explicit LiveSource(Bytes frames) : VideoSource(std::move(frames), kWidth, kHeight, Kind::pipe) {}

  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    std::unique_lock lock(mutex_);
    const bool came = delivered_.wait_for(lock, std::chrono::seconds(60), [&] { return count_ > index - 2; });
    if (!came) throw Error(ErrorKind::input, "TEST-WAITED", "frame " + std::to_string(index) + " was waited for", {.frame = index});
    return VideoSource::read(index, frame);
  }

  void delivered() {
    const std::lock_guard lock(mutex_);
    ++count_;
    delivered_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable delivered_;
  std::int64_t count_ = 0;
};

EncoderSettings live_settings(int key_interval) {
  return {.coding = {.width = kWidth, .height = kHeight, .key_interval = key_interval}, .execution = {.threads = 2}};
}

TEST(Live, EveryFrameLeavesBeforeTheSecondAfterItArrives) {
  const Bytes video = moving_video(kWidth, kHeight, 12);
  for (const bool scene_cuts : {false, true}) {
    for (const int key_interval : {1, 5, 100}) {
      for (const int lanes : {0, 1, 4}) {
        for (const std::size_t devices : {1U, 2U}) {
          EncoderSettings settings = live_settings(key_interval);
          settings.coding.scene_cuts = scene_cuts;
          settings.execution.lanes = lanes;
          Encoder encoder(settings, std::vector<BackendFactory>(devices, open_cpu_backend));
          LiveSource source(video);
          std::int64_t frames = 0;
          encoder.encode(source, [&](EncodedFrame&&) {
            ++frames;
            source.delivered();
          });
          EXPECT_EQ(frames, 12) << scene_cuts << " " << key_interval << " " << lanes << " " << devices;
        }
      }
    }
  }
}

TEST(Live, AFallbackKeepsFramesAndWaitsForNone) {
  LiveSource source(moving_video(kWidth, kHeight, 12));
  Encoder encoder(live_settings(4));
  encoder.set_fallback(open_cpu_backend, nullptr);
  std::int64_t frames = 0;
  encoder.encode(source, [&](EncodedFrame&&) {
    ++frames;
    source.delivered();
  });
  EXPECT_EQ(frames, 12);
}

}  // namespace
}  // namespace c63::test::live_test
