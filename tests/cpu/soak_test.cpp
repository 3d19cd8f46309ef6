// Opening and closing an encoder many times must not use more and more memory.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "c63/encoder.h"

namespace c63 {
namespace {

/// Returns how many pages of memory this process holds, or 0 if the system gives no number.
long resident_pages() {
  long all = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

// Encodes C63_SOAK_CYCLES times, or 1000 times if this variable is not set. ctest --preset soak sets it to 10,000.
TEST(Soak, EncodersLeaveNothingBehind) {
  if (resident_pages() == 0) GTEST_SKIP() << "this system does not tell how much memory a process holds";
  const char* const asked = std::getenv("C63_SOAK_CYCLES");
  const int cycles = asked != nullptr ? std::atoi(asked) : 1000;
  EncoderSettings settings;
  settings.coding.width = 48;
  settings.coding.height = 32;
  settings.coding.key_interval = 2;
  settings.execution.threads = 2;
  std::vector<std::uint8_t> video(3 * frame_bytes(48, 32));
  for (std::size_t i = 0; i < video.size(); ++i) video[i] = static_cast<std::uint8_t>(i * i / 7);

  const auto expected = encode(video, settings);
  for (int cycle = 0; cycle < cycles / 10; ++cycle) (void)encode(video, settings);
  const long before = resident_pages();
  for (int cycle = 0; cycle < cycles; ++cycle) {
    settings.execution.lanes = cycle % 4;
    ASSERT_EQ(encode(video, settings), expected);
  }
  const long after = resident_pages();
  RecordProperty("cycles", cycles);
  RecordProperty("resident_pages_before", std::to_string(before));
  RecordProperty("resident_pages_after", std::to_string(after));
#if !defined(C63_SANITIZED)  // sanitizers keep freed memory for a while, and find leaks themselves
  EXPECT_LT(after - before, 256) << "4 KiB pages more than before " << cycles << " encodes";
#endif
}

}  // namespace
}  // namespace c63
