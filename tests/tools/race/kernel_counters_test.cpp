// Tests how c63bench reads the output of NVIDIA's profiler.

#include "bench/race_files.h"

#include <gtest/gtest.h>

namespace c63::bench {
namespace {

constexpr const char* kCsv =
    "==PROF== Connected to process 12\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
    "\"0\",\"12\",\"c63_motion(c63_motion_batch, int)\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\",\"%\",\"71.5\"\n"
    "\"0\",\"12\",\"c63_motion(c63_motion_batch, int)\",\"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active\",\"%\",\"64.2\"\n";

TEST(KernelCounters, AreReadFromCsv) {
  const auto counters = counters_of(kCsv, 0);
  EXPECT_EQ(counters.at("sm_percent"), 71.5);
  EXPECT_EQ(counters.at("alu_percent"), 64.2);
  EXPECT_EQ(counters.at("text"), "multiprocessors 72 %, ALU 64 % of the peak");
}

TEST(KernelCounters, SayIfThereAreNone) {
  for (const char* output : {"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", ""})
    EXPECT_TRUE(counters_of(output, 1).contains("why_not"));
}

}  // namespace
}  // namespace c63::bench
