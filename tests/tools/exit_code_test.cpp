#include <cstdlib>

#include "common/command_line.h"
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
    for (const char* option : {"--help", "--help-all", "--version"}) {
      const ProcessResult result = expect_success(run({program, option}));
      EXPECT_EQ(result.err, "");
      EXPECT_GT(lines_in(result.out), 4) << option;
    }
  }
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

TEST_F(ExitCodes, AClosedPipeIsAnOutputErrorAndNotASignal) {
  for (const auto& command : {std::vector<std::string>{kEnc, "--quiet", "-w", "32", "-h", "32", "-o", "-", input_},
                              std::vector<std::string>{kDec, "--quiet", encoded("s.c63"), "-"}}) {
    const ProcessResult result = run(command, {}, {.out = Stream::unread});
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
}

TEST_F(ExitCodes, ADemandedGpuThatIsMissingHasItsOwnCode) {
  if (run({kEnc, "--list-devices"}).out.find("cuda: none") == std::string::npos) GTEST_SKIP() << "there is a GPU here";
  const bool has_cuda = run({kEnc, "--version"}).out.find("CUDA not built in") == std::string::npos;
  const std::string video = write_file("v_32x32.yuv", video_);
  const std::string stream = encoded("s.c63");
  for (const auto& [command, id] : {std::pair{std::vector{kEnc, video, path("o.c63"), std::string("--backend"), std::string("cuda")}, "C63-NO-GPU"},
                                    {{kEnc, video, path("o.c63"), "--device", "0"}, "C63-NO-GPU"},
                                    {{kEnc, video, path("o.c63"), "--me-kernel", "textbook"}, has_cuda ? "C63-NO-GPU" : "C63-NO-CUDA"},
                                    {{kDec, stream, path("o.yuv"), "--backend", "cuda"}, "C63-NO-GPU"}}) {
    SCOPED_TRACE(command.back());
    expect_one_line(run(joined(command, {"--quiet"})), 8, command[0] == kEnc ? "c63enc" : "c63dec", id);
  }
  const ProcessResult fallback = expect_success(run({kEnc, "-v", "-o", path("o.c63"), video}));
  EXPECT_EQ(fallback.err.find("encoding on the CPU: ") != std::string::npos, has_cuda) << fallback.err;
}

TEST(Subcommands, ThatNeedCudaTakeWhateverFollowsThem) {
  std::vector<std::string> words = {"c63test", "me", "more", "3", "--frames", "--quiet", "me"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  const tools::Program program{.name = words[0], .description = "", .subcommands = {tools::subcommand_without_cuda("me")}};
  EXPECT_EXIT(std::exit(tools::run_main(static_cast<int>(arguments.size()), arguments.data(), program)), ::testing::ExitedWithCode(8),
              "C63-NO-CUDA");
}

/// Without --quiet, too: messages about the input are held back until the work begins.
TEST_F(ExitCodes, AnErrorBeforeTheWorkComesAlone) {
  const std::string part = write_file("part_32x32.yuv", std::string_view(video_).substr(0, 2 * kFrame32 + 7));
  expect_one_line(run({kEnc, part, path("none/o.c63")}), 6, "c63enc", "C63-WRITE-OPEN");
  const ProcessResult little = run({kEnc, write_file("little_32x32.yuv", std::string(99, 'x')), path("o.c63")});
  expect_one_line(little, 4, "c63enc", "C63-NO-FRAMES");
  expect_one_line(run({kEnc, write_file("empty_32x32.yuv", ""), path("o.c63")}), 4, "c63enc", "C63-NO-FRAMES");
}

TEST_F(ExitCodes, QuietIsQuiet) {
  const std::string stream = encoded("s.c63");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{kMv, stream}, {kMv, stream, "-o", path("o.csv")}, {kGen, "-w", "16", "-h", "16", path("g.yuv")}}) {
    const ProcessResult result = run(joined(command, {"--quiet"}));
    EXPECT_EQ(result.exit_code, 0) << command[0];
    EXPECT_EQ(result.out + result.err, "") << command[0];
  }
  const ProcessResult compared = run({kCmp, "--quiet", write_file("v_32x32.yuv", video_), stream});
  EXPECT_EQ(compared.err, "");
  EXPECT_FALSE(compared.out.empty()) << "what c63cmp prints is its result";
}

}  // namespace
}  // namespace c63::test
