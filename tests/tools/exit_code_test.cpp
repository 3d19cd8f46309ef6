#include <csignal>

#include "tools_test_support.h"

// Tests exit codes that need more than a command line (command_line_test.cpp): streams, pipes and devices.

namespace c63::test {
namespace {

class ExitCodes : public ToolsTest {
 protected:
  void SetUp() override {
    video_ = generate({'B', 0, 32, 32, 6});
    input_ = write_file("in.yuv", video_);
  }

  /// Runs c63enc with these options. It prints only errors.
  [[nodiscard]] ProcessResult encode(const std::vector<std::string>& more, std::string_view standard_input = {}) const {
    return run(joined({kEnc, "--quiet"}, more), standard_input);
  }
  [[nodiscard]] std::string encoded(const std::string& name) const {
    EXPECT_EQ(encode({"-w", "32", "-h", "32", "-o", path(name), input_}).exit_code, 0);
    return path(name);
  }

  std::string video_;
  std::string input_;
};

TEST_F(ExitCodes, HelpAndVersionGoToStandardOutput) {
  for (const std::string& program : {kEnc, kDec, kPred}) {
    const ProcessResult help = run({program, "--help-all"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_EQ(help.err, "");
    const ProcessResult version = run({program, "--version"});
    EXPECT_EQ(version.exit_code, 0);
    for (const char* part : {"revision ", "compiler ", "CUDA ", "SIMD ", "FFmpeg "}) {
      EXPECT_NE(version.out.find(part), std::string::npos) << part;
    }
  }
}

TEST_F(ExitCodes, HelpThatCannotBeWrittenIsAnOutputError) {
  Process process({kEnc, "--help"}, Process::Stdout::collected, "/dev/full");
  expect_one_line(process.wait(), 6, "c63enc", "C63-WRITE");
}

TEST_F(ExitCodes, EveryTruncationOfAStreamKeepsTheFramesBeforeIt) {
  const std::string stream = read_file(encoded("s.c63"));
  const std::string decoded = run({kDec, "--quiet", path("s.c63"), "-"}).out;
  ASSERT_EQ(decoded.size(), 6 * kFrame32);
  for (std::size_t size = 1; size < stream.size(); size += 97) {
    SCOPED_TRACE(size);
    const ProcessResult result = run({kDec, "--quiet", "-", "-"}, std::string_view(stream).substr(0, size));
    ASSERT_EQ(result.out.size() % kFrame32, 0U);
    EXPECT_EQ(result.out, decoded.substr(0, result.out.size()));
    const std::size_t frames = result.out.size() / kFrame32;
    if (result.exit_code == 0) {  // the stream was cut between two frames
      EXPECT_TRUE(frames > 0 && stream.substr(size).starts_with("\xFF\xD8"));
      continue;
    }
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_EQ(lines_in(result.err), 1) << result.err;
  }
}

TEST_F(ExitCodes, AFullDeviceIsAnOutputError) {
  Process process({kDec, "--quiet", encoded("s.c63"), "-"}, Process::Stdout::collected, "/dev/full");
  expect_one_line(process.wait(), 6, "c63dec", "C63-WRITE-FAILED");
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(ExitCodes, ALogFileGetsEveryLine) {
  EXPECT_EQ(encode({"-w", "32", "-h", "32", "-o", path("o.c63"), "--log-file", path("log"), input_}).exit_code, 0);
  EXPECT_GT(lines_in(read_file(path("log"))), 6);
}

TEST_F(ExitCodes, AClosedPipeIsAnOutputErrorAndNotASignal) {
  for (const auto& command : {std::vector<std::string>{kEnc, "--quiet", "-w", "32", "-h", "32", "-o", "-", input_},
                              std::vector<std::string>{kDec, "--quiet", encoded("s.c63"), "-"}}) {
    Process process(command, Process::Stdout::closed);
    const ProcessResult result = process.wait();
    EXPECT_EQ(result.signal, 0);
    expect_one_line(result, 6, command[0] == kEnc ? "c63enc" : "c63dec", "C63-PIPE-CLOSED");
  }
}

TEST(Start, NoProgramIsLinkedWithFfmpeg) {
  for (const std::string& program : {kGen, kDec, kPred, kEnc, kCmp, kFilter, kMv}) {
    const ProcessResult loaded = run({"/usr/bin/env", "LD_TRACE_LOADED_OBJECTS=1", program});
    if (loaded.out.find("libstdc++") == std::string::npos) GTEST_SKIP() << "the loader does not tell what it loads";
    EXPECT_EQ(loaded.out.find("libav"), std::string::npos) << program;
  }
}

TEST_F(ExitCodes, DevicesAreListed) {
  const ProcessResult result = encode({"--list-devices"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("cpu: ")) << result.out;
  EXPECT_NE(result.out.find("cuda"), std::string::npos) << result.out;
}

TEST_F(ExitCodes, ADemandedGpuThatIsMissingHasItsOwnCode) {
  if (run({kEnc, "--list-devices"}).out.find("cuda: none") == std::string::npos) GTEST_SKIP() << "there is a GPU here";
  expect_one_line(encode({"--backend", "cuda", "-w", "32", "-h", "32", "-o", path("o.c63"), input_}), 8, "c63enc",
                  "C63-NO-GPU");
  const ProcessResult fallback = run({kEnc, "-v", "-w", "32", "-h", "32", "-o", path("o.c63"), input_});
  EXPECT_EQ(fallback.exit_code, 0);
  const bool built_in = run({kEnc, "--version"}).out.find("CUDA not built in") == std::string::npos;
  EXPECT_EQ(fallback.err.find("encoding on the CPU: ") != std::string::npos, built_in) << fallback.err;
}

}  // namespace
}  // namespace c63::test
