#include <string>

#include "tools_test_support.h"

// tools/gpu_check takes samples of a process's memory during many encodes. These tests are about its decision whether
// the memory grows.

namespace c63::test {
namespace {

ProcessResult judge(const std::string& samples) {
  return run({"/usr/bin/env", "bash", "-c", ". \"$0\"; flat_memory 10000 0", C63_SOURCE_DIR "/tools/checks/gpu_check.d/soak.sh"}, samples);
}

std::string sample(int rss_kb, int device_mib) { return std::to_string(rss_kb) + " " + std::to_string(device_mib) + "\n"; }

TEST(FlatMemory, TemporaryMemoryIsNotGrowth) {
  std::string samples;
  // In every third sample, the process has 2 MiB more host memory. The last sample is one of these, the middle one is
  // not. So comparing only the two would find a leak that does not exist.
  for (int i = 0; i < 40; ++i) samples += sample(83824 + (i % 3 == 0 ? 2060 : 0), 535);
  const ProcessResult result = judge(samples);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_NE(result.out.find(R"("rss_kb": [83824, 83824, 83824, 83824], "device_mib": [535, 535, 535, 535], "flat": true)"),
            std::string::npos)
      << result.out;
}

TEST(FlatMemory, ALeakShows) {
  std::string host;
  std::string device;
  for (int i = 0; i < 40; ++i) {
    host += sample(80000 + 250 * i + (i % 3 == 0 ? 2060 : 0), 535);  // a kilobyte per encode
    device += sample(80000, i < 30 ? 535 : 537);
  }
  EXPECT_EQ(judge(host).exit_code, 1);
  EXPECT_EQ(judge(device).exit_code, 1);
}

TEST(FlatMemory, MemoryOfTheFirstHalfIsNotALeak) {
  std::string samples;
  for (int i = 0; i < 40; ++i) samples += sample(i < 20 ? 70000 + 250 * i : 80000, i < 20 ? 535 : 537);
  EXPECT_EQ(judge(samples).exit_code, 0);
}

TEST(FlatMemory, TooFewSamplesSayNothing) {
  std::string samples;
  for (int i = 0; i < 15; ++i) samples += sample(80000, 535);
  EXPECT_EQ(judge(samples).exit_code, 1);
  EXPECT_EQ(judge(samples + sample(80000, 535)).exit_code, 0);
}

}  // namespace
}  // namespace c63::test
