// Tests the library as a guest in another program's process: it changes no global state.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "c63/thread_pool.h"
#include "support/coding.h"

extern char** environ;

namespace c63::test::guest_test {
namespace {

constexpr int kWidth = 64;
constexpr int kHeight = 48;

EncoderSettings settings_with(int threads) {
  return {.coding = {.width = kWidth, .height = kHeight, .key_interval = 4}, .execution = {.threads = threads}};
}

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

TEST(Guest, TheProcessStaysAsItIs) {
  const std::vector<std::string> variables = environment();
  const Bytes video = moving_video(kWidth, kHeight, 12);
  for (const int threads : {1, 2, 7}) {
    VideoSource source(video, kWidth, kHeight);
    Bytes stream;
    Encoder(settings_with(threads)).encode(source, [&](EncodedFrame&& frame) {
      stream.insert(stream.end(), frame.bytes.begin(), frame.bytes.end());
    });
    EXPECT_EQ(decode(stream, {.execution = {.threads = threads}}).size(), video.size());
  }
  EXPECT_EQ(environment(), variables);
}

TEST(Guest, EncodersAndADecoderRunAtTheSameTime) {
  const Bytes video = moving_video(kWidth, kHeight, 40);
  const Bytes expected = encode(video, settings_with(1));
  const Bytes pictures = decode(expected);
  std::vector<std::jthread> hosts;
  for (const int threads : {1, 3}) {
    hosts.emplace_back([&, threads] {
      for (int i = 0; i < 5; ++i) EXPECT_EQ(encode(video, settings_with(threads)), expected);
    });
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(decode(expected, {.execution = {.threads = 2}}), pictures);
}

// The process ends at a moment when workers may have been requested, but not started. A leak checker must not report
// their memory.
TEST(Guest, TheProcessMayEndRightAfterItsThreadsStarted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXIT(
        {
          { const ThreadPool pool(2); }
          std::exit(0);
        },
        testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace c63::test::guest_test
