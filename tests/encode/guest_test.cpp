// Tests the library as a guest in another program's process: it changes no global state.

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "c63/thread_arena.h"
#include "support/coding.h"

extern char** environ;

namespace c63::test::guest_test {
namespace {

constexpr int kWidth = 64;
constexpr int kHeight = 48;

EncoderSettings settings_with(int threads) {
  return {.coding = {.width = kWidth, .height = kHeight, .key_interval = 4}, .execution = {.threads = threads}};
}

std::size_t allowed_parallelism() {
  return oneapi::tbb::global_control::active_value(oneapi::tbb::global_control::max_allowed_parallelism);
}

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

TEST(Guest, TheProcessStaysAsItIs) {
  const std::size_t allowed = allowed_parallelism();
  const std::vector<std::string> variables = environment();
  const Bytes video = moving_video(kWidth, kHeight, 12);
  for (const int threads : {1, 2, 7}) {
    VideoSource source(video, kWidth, kHeight);
    Bytes stream;
    Encoder(settings_with(threads)).encode(source, [&](EncodedFrame&& frame) {
      EXPECT_EQ(allowed_parallelism(), allowed);
      stream.insert(stream.end(), frame.bytes.begin(), frame.bytes.end());
    });
    Decoder({.execution = {.threads = threads}}).decode(stream, [&](DecodedFrame&&) {
      EXPECT_EQ(allowed_parallelism(), allowed);
    });
  }
  EXPECT_EQ(allowed_parallelism(), allowed);
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
          { const ThreadArena arena(2); }
          std::exit(0);
        },
        testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace c63::test::guest_test
