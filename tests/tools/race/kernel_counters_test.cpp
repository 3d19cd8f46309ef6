// Tests how c63bench reads the output of NVIDIA's profiler.

#include "bench/race_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/folder_test.h"
#include "support/shell.h"

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

class KeptProfile : public test::FolderTest {};

TEST_F(KeptProfile, IsNextToTheResultsAndOnTheBoard) {
  // Stands for ncu: keeps what follows -o, and prints the figures.
  write_file("ncu", std::string("#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho profile >\"$2\"\ncat <<'END'\n") + kCsv + "END\n");
  std::filesystem::permissions(path("ncu"), std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (path(".") + ":" + before).c_str(), 1);
  const Json counters = count_by_ncu("true", path("mine.cu.ncu-rep"));
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(counters.at("report"), "mine.cu.ncu-rep");
  EXPECT_EQ(counters.at("alu_percent"), 64.2);
  const Json row = {{"kernel", "mine.cu"}, {"size", "8x8"}, {"content", "noise"}, {"us", {{"median", 1.0}}}};
  const Json results = {{"results", {row}}, {"entrants", {{{"name", "mine.cu"}, {"verdict", "right"}, {"counters", counters}}}}};
  write_file("mine.json", results.dump());
  make_board({.results = {path("mine.json")}, .output = path("board.html")});
  EXPECT_NE(test::read_file(path("board.html")).find("\"profile\":\"./mine.cu.ncu-rep\""), std::string::npos);
}

}  // namespace
}  // namespace c63::bench
