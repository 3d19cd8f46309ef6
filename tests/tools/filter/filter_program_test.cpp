// Tests c63filter as a program: its results, and its errors for bad input.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "support/folder_test.h"
#include "support/shell.h"

namespace c63::tools {
namespace {

using test::ShellResult;

ShellResult run_shell(const std::string& command) { return test::shell("{ " + command + "; } 2>&1"); }

class FilterProgram : public test::FolderTest {
 protected:
  [[nodiscard]] std::string read(const std::string& name) const { return test::read_file(path(name)); }
  /// Runs c63filter on the CPU, in the test's folder.
  [[nodiscard]] ShellResult filter(const std::string& arguments) const {
    return run_shell(fmt::format("cd '{}' && C63_FILTER='{}/c63filter' && \"$C63_FILTER\" --backend cpu {}", folder_.string(),
                                 C63_BIN_DIR, arguments));
  }
  [[nodiscard]] ShellResult generate(const std::string& arguments) const {
    return run_shell(fmt::format("cd '{}' && '{}/c63gen' {}", folder_.string(), C63_BIN_DIR, arguments));
  }
  /// Expects that c63filter ends with this exit code and an error with this id, and leaves no output file.
  void expect_failure(const std::string& arguments, int code, const std::string& id) const {
    static_cast<void>(run_shell("rm -f '" + path("out.txt") + "' '" + path("out.y4m") + "'"));
    const ShellResult result = filter(arguments);
    EXPECT_EQ(result.exit_code, code) << arguments << ": " << result.output;
    EXPECT_NE(result.output.find("[" + id + "]"), std::string::npos) << arguments << ": " << result.output;
    EXPECT_FALSE(std::ifstream(path("out.txt"))) << arguments;
    EXPECT_FALSE(std::ifstream(path("out.y4m"))) << arguments;
  }
};

TEST_F(FilterProgram, SignalsGoFromTextToText) {
  write_file("in.txt", "1\n2\n4\n8\n");
  EXPECT_EQ(filter("convolve in.txt out.txt --taps 1,10,100").exit_code, 0);
  EXPECT_EQ(read("out.txt"), "12\n124\n248\n480\n");
  EXPECT_EQ(filter("convolve in.txt out.txt --kernel 1,10,100").exit_code, 0);
  EXPECT_EQ(read("out.txt"), "12\n124\n248\n480\n");
  EXPECT_EQ(filter("convolve in.txt out.txt --kernel mean:1").exit_code, 0);
  EXPECT_EQ(read("out.txt"), "1\n2\n4\n8\n");
  EXPECT_EQ(filter("mean in.txt out.txt --width 1").exit_code, 0);
  EXPECT_EQ(read("out.txt"), "1\n2\n4\n8\n");
  EXPECT_EQ(filter("scan in.txt out.txt").exit_code, 0);
  EXPECT_EQ(read("out.txt"), "1\n3\n7\n15\n");
  EXPECT_EQ(filter("scan in.txt out.txt --exclusive").exit_code, 0);
  EXPECT_EQ(read("out.txt"), "0\n1\n3\n7\n");
  for (const auto& [op, value] :
       {std::pair{"sum", "15\n"}, {"min", "1\n"}, {"max", "8\n"}, {"argmin", "0\n"}, {"argmax", "3\n"}}) {
    EXPECT_EQ(filter(fmt::format("reduce in.txt out.txt --op {}", op)).exit_code, 0);
    EXPECT_EQ(read("out.txt"), value);
  }
  EXPECT_EQ(filter("histogram in.txt out.txt --bins 32").exit_code, 0);
  EXPECT_EQ(read("out.txt").substr(0, 6), "3\n1\n0\n");
  EXPECT_EQ(filter("scan in.txt out.npy && \"$C63_FILTER\" reduce out.npy out.txt").exit_code, 0);
  EXPECT_EQ(read("out.txt"), "26\n");
}

TEST_F(FilterProgram, ComparisonTellsSpeedUpAndDifference) {
  write_file("in.txt", "1\n2\n4\n8\n");
  const ShellResult result = filter("mean in.txt out.txt --width 3 --compare");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(std::regex_search(result.output, std::regex("times as fast; largest difference 0"))) << result.output;
}

TEST_F(FilterProgram, BadSignalsAreNamed) {  // signal_file_test.cpp has the other errors of files
  write_file("junk.txt", "1\n2\nthree\n");
  write_file("good.txt", "1\n2\n3\n");
  write_file("high.txt", "1\n256\n");
  write_file("unfinished.txt", "1\n2\n3");
  expect_failure("mean junk.txt out.txt", 4, "C63-SIGNAL-NUMBER");
  expect_failure("mean good.txt out.txt --width 4", 2, "C63-KERNEL-EVEN");
  expect_failure("mean good.txt out.txt --width 2001", 2, "C63-KERNEL-SIZE");
  expect_failure("mean good.txt out.txt --width 3 --device 0", 2, "C63-USAGE");  // a GPU, with the CPU alone
  expect_failure("convolve good.txt out.txt --taps 1,2", 2, "C63-KERNEL-EVEN");
  expect_failure("convolve good.txt out.txt", 2, "C63-USAGE");
  expect_failure("histogram high.txt out.txt", 4, "C63-SIGNAL-RANGE");
  expect_failure("mean good.txt out.txt --variant tuned", 2, "C63-FILTER-VARIANT");
  expect_failure("mean good.txt good.txt", 2, "C63-SAME-FILE");
  EXPECT_EQ(read("good.txt"), "1\n2\n3\n");
  EXPECT_EQ(filter("scan unfinished.txt out.txt").exit_code, 0);
  EXPECT_EQ(read("out.txt"), "1\n3\n6\n");
}

TEST_F(FilterProgram, ShiftsOfStarsAreTheTruth) {
  ASSERT_EQ(generate("--pattern stars -w 256 -h 192 -f 30 --truth truth.csv -o stars.y4m").exit_code, 0);
  ASSERT_EQ(filter("shift stars.y4m shifts.csv").exit_code, 0);
  std::istringstream shifts(read("shifts.csv")), truth(read("truth.csv"));
  std::string line;
  std::getline(shifts, line);
  EXPECT_EQ(line, "frame,dx,dy");
  std::getline(truth, line);
  int compared = 0;
  for (std::string known; std::getline(shifts, line) && std::getline(truth, known);) {
    int frame = 0;
    double dx = 0, dy = 0, x = 0, y = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%d,%lf,%lf", &frame, &dx, &dy), 3) << line;
    ASSERT_EQ(std::sscanf(known.c_str(), "%d,%lf,%lf", &frame, &x, &y), 3) << known;
    if (std::abs(x) > 0.5 || std::abs(y) > 0.5) continue;  // the scene moved by x, so the frame is the reference at −x
    ++compared;
    EXPECT_NEAR(dx, -x, 0.02) << "frame " << frame;
    EXPECT_NEAR(dy, -y, 0.02) << "frame " << frame;
  }
  EXPECT_GT(compared, 3);
}

TEST_F(FilterProgram, WhiteningBringsTheObjectOut) {
  ASSERT_EQ(generate("--pattern stars -w 256 -h 256 -f 40 --truth truth.csv -o stars.y4m").exit_code, 0);
  for (const std::string options : {"--method shift", "--method correlation", "--method shift --reject 5"}) {
    const ShellResult result =
        filter("whiten stars.y4m white.y4m --truth truth.csv --before before.ppm --after after.ppm " + options);
    ASSERT_EQ(result.exit_code, 0) << result.output;
    std::smatch match;
    ASSERT_TRUE(std::regex_search(result.output, match, std::regex("after: \\+([0-9.]+) dB"))) << result.output;
    EXPECT_GE(std::stod(match[1]), 10.0) << options;
    EXPECT_EQ(read("after.ppm").substr(0, 2), "P6");
    EXPECT_EQ(read("before.ppm").size(), read("after.ppm").size());
  }
}

TEST_F(FilterProgram, BadVideoIsNamed) {
  ASSERT_EQ(generate("--pattern stars -w 64 -h 64 -f 10 -o few.y4m").exit_code, 0);
  expect_failure("whiten few.y4m out.y4m --memory 20", 4, "C63-WHITEN-MEMORY");
  expect_failure("whiten few.y4m out.y4m --memory 65", 2, "C63-WHITEN-SETTING");
  expect_failure("whiten few.y4m out.y4m --memory 4 --degree 2 --epsilon 0", 4, "C63-WHITEN-SINGULAR");
  expect_failure("convolve few.y4m out.y4m --kernel mean:4", 2, "C63-KERNEL-EVEN");
  expect_failure("convolve few.y4m out.y4m --kernel mean:33", 2, "C63-KERNEL-SIZE");
  expect_failure("shift few.y4m out.txt --reference 10", 2, "C63-SHIFT-REFERENCE");
  write_file("empty_32x32.yuv", "");
  for (const char* action : {"convolve empty_32x32.yuv out.y4m --kernel mean:3", "histogram empty_32x32.yuv out.txt",
                             "shift empty_32x32.yuv out.csv"}) {
    expect_failure(action, 4, "C63-VIDEO-EMPTY");
  }
  expect_failure("whiten empty_32x32.yuv out.y4m", 4, "C63-WHITEN-MEMORY");
  write_file("flat_32x32.yuv", std::string(32 * 32 * 3 / 2 * 8, 'x'));
  expect_failure("whiten flat_32x32.yuv out.y4m --memory 4", 4, "C63-SHIFT-TEXTURELESS");
  EXPECT_EQ(filter("shift flat_32x32.yuv shifts.csv").exit_code, 0);
  EXPECT_EQ(read("shifts.csv").substr(0, 17), "frame,dx,dy\n0,,\n1");
}

TEST_F(FilterProgram, VideoIsOneSignalAndMeanIsAKernel) {
  std::string video(3 * 32 * 32 * 3 / 2, 'a');
  video[32 * 32 * 3 / 2 + 40] = 'z';
  write_file("v_32x32.yuv", video);
  EXPECT_EQ(filter("reduce v_32x32.yuv out.txt --op argmax").exit_code, 0);
  EXPECT_EQ(read("out.txt"), std::to_string(32 * 32 + 40) + "\n");
  EXPECT_EQ(filter("mean v_32x32.yuv a.yuv --width 3 && \"$C63_FILTER\" convolve v_32x32.yuv b.yuv --kernel mean:3")
                .exit_code,
            0);
  EXPECT_EQ(read("a.yuv"), read("b.yuv"));
  EXPECT_NE(read("a.yuv"), video);
}

TEST_F(FilterProgram, KernelsKeepFlatVideoInside) {
  write_file("flat_32x32.yuv", std::string(32 * 32 * 3 / 2, 'x'));
  ASSERT_EQ(filter("convolve flat_32x32.yuv out_32x32.yuv --kernel gauss:1 --compare").exit_code, 0);
  const std::string out = read("out_32x32.yuv");
  ASSERT_EQ(out.size(), 32U * 32 * 3 / 2);
  EXPECT_EQ(out[16 * 32 + 16], 'x');
  EXPECT_LT(out[0], 'x') << "samples outside count as zero";
}

}  // namespace
}  // namespace c63::tools
