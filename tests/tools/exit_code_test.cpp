#include <csignal>

#include "tools_test_support.h"

// Tests every exit code, and every kind of bad input that can cause one.

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

/// c63enc reads in.yuv, which is 32x32 raw video, and writes out.c63.
TEST_F(ExitCodes, WrongCommandLines) {
  struct Case {
    std::vector<std::string> arguments;
    int exit_code = 2;
    std::string id = "C63-USAGE";
    bool has_size = true;  ///< -w 32 -h 32 come first
    bool has_files = true;
  };
  std::vector<Case> cases = {{.arguments = {"--no-such-option"}}, {.arguments = {"--input-res", "7"}, .has_size = false},
                             {.arguments = {"-w", "99999999999"}, .has_size = false}, {.arguments = {"-w", "32"}, .has_size = false},
                             {.arguments = {"-o", path("out.c63")}, .has_files = false}, {.arguments = {input_}, .has_files = false}};
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"-q", "abc"}, {"--me", "none"}, {"--fps", "0"}, {"--fps", "x"}, {"--backend", "opencl"}, {"--threads", "-1"},
           {"--simd", "mmx"}, {"-f", "-1"}, {"--seek", "99999999999999999999"}, {"--max-pixels", "-1"}, {"--max-memory", "-1"}}) {
    cases.push_back({.arguments = wrong});
  }
  const auto add = [&](std::vector<std::string> arguments, int exit_code, const char* id, bool has_size = true) {
    cases.push_back({.arguments = std::move(arguments), .exit_code = exit_code, .id = id, .has_size = has_size});
  };
  add({"-q", "4"}, 2, "C63-QP-RANGE");
  add({"-q", "51"}, 2, "C63-QP-RANGE");
  add({"--keyint", "0"}, 2, "C63-KEYINT-RANGE");
  add({"--merange", "128"}, 2, "C63-MERANGE-RANGE");
  add({"--tune", "ssim"}, 2, "C63-TUNE-PRESET");
  add({}, 2, "C63-SIZE-UNKNOWN", false);
  add({"-w", "0", "-h", "32"}, 2, "C63-SIZE-ZERO", false);
  add({"-w", "0", "-h", "0"}, 2, "C63-SIZE-ZERO", false);
  add({"-w", "32", "-h", "-32"}, 2, "C63-SIZE-ZERO", false);
  add({"-w", "15", "-h", "15"}, 2, "C63-SIZE-AREA", false);
  add({"-w", "65536", "-h", "2"}, 5, "C63-SIZE-RANGE", false);
  add({"--max-pixels", "1023"}, 5, "C63-MAX-PIXELS");
  add({"--max-memory", "1kb"}, 5, "C63-MAX-MEMORY");
  add({"--seek", "6"}, 4, "C63-NO-FRAMES");
  add({"-i", path("no.yuv")}, 4, "C63-INPUT-OPEN");
  add({"-i", folder_.string()}, 4, "C63-INPUT-OPEN");
  for (const Case& wrong : cases) {
    std::vector<std::string> command;
    if (wrong.has_size) command = {"-w", "32", "-h", "32"};
    const bool names_input = std::ranges::count(wrong.arguments, "-i") > 0;
    if (wrong.has_files) command = joined(command, {"-o", path("out.c63")});
    if (wrong.has_files && !names_input) command.push_back(input_);
    const std::vector<std::string> arguments = joined(command, wrong.arguments);
    SCOPED_TRACE(testing::PrintToString(arguments));
    expect_one_line(encode(arguments), wrong.exit_code, "c63enc", wrong.id);
  }
  EXPECT_EQ(files_in_folder(), 1);
  const std::string stream = encoded("s.c63");
  expect_one_line(run({kDec, "--quiet"}), 2, "c63dec", "C63-USAGE");
  expect_one_line(run({kPred, "--quiet", stream}), 2, "c63pred", "C63-USAGE");
  expect_one_line(run({kDec, "--quiet", stream, path("o.yuv"), "--max-pixels", "1000"}), 5, "c63dec", "C63-MAX-PIXELS");
  expect_one_line(run({kDec, "--quiet", path("no.c63"), path("o.yuv")}), 4, "c63dec", "C63-INPUT-OPEN");
  EXPECT_EQ(run({kDec, "--quiet", "--seek", "6", stream, path("o.yuv")}).exit_code, 4);
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(ExitCodes, EmptyInputIsBadInput) {
  const std::string empty = write_file("empty.yuv", "");
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63"), empty}), 4, "c63enc", "C63-NO-FRAMES");
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63"), "-"}), 4, "c63enc", "C63-NO-FRAMES");
  EXPECT_EQ(run({kDec, "--quiet", empty, path("o.yuv")}).exit_code, 4);
  EXPECT_EQ(lines_in(run({kDec, "--quiet", empty, path("o.yuv")}).err), 1);
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(ExitCodes, APartialLastFrameWarnsAndIsAnErrorWithStrict) {
  const std::string partial = write_file("partial.yuv", video_.substr(0, 5 * kFrame32 + 7));
  const ProcessResult warned = run({kEnc, "-w", "32", "-h", "32", "-o", path("out.c63"), partial});
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_EQ(run({kDec, "--quiet", path("out.c63"), "-"}).out.size(), 5 * kFrame32);
  expect_one_line(encode({"-w", "32", "-h", "32", "--strict", "-o", path("strict.c63"), partial}), 4, "c63enc",
                  "C63-RAW-PARTIAL");
}

TEST_F(ExitCodes, WholeFramesBeforeAFaultInTheInputAreKept) {
  const ProcessResult result =
      encode({"-w", "32", "-h", "32", "--strict", "-o", path("out.c63"), "-"}, video_.substr(0, 5 * kFrame32 + 7));
  expect_one_line(result, 4, "c63enc", "C63-RAW-PARTIAL");
  const ProcessResult whole = encode({"-w", "32", "-h", "32", "-f", "5", "-o", "-", input_});
  EXPECT_EQ(read_file(path("out.c63")), whole.out);
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

TEST_F(ExitCodes, GarbageIsBadInput) {
  const ProcessResult result = run({kDec, "--quiet", input_, path("o.yuv")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(lines_in(result.err), 1);
  EXPECT_FALSE(std::filesystem::exists(path("o.yuv")));
}

TEST_F(ExitCodes, OutputThatCannotBeOpenedIsAnOutputError) {
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("no/out.c63"), input_}), 6, "c63enc", "C63-WRITE-OPEN");
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", folder_.string(), input_}), 6, "c63enc", "C63-WRITE-OPEN");
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63"), "--csv", path("no/f.csv"), input_}), 6,
                  "c63enc", "C63-WRITE-OPEN");
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63"), "--log-file", input_ + "/log", input_}), 6,
                  "c63enc", "C63-LOG-FILE");
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(ExitCodes, AFullDeviceIsAnOutputError) {
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", "/dev/full", input_}), 6, "c63enc", "C63-WRITE-FAILED");
  expect_one_line(run({kDec, "--quiet", encoded("s.c63"), "/dev/full"}), 6, "c63dec", "C63-WRITE-FAILED");
  Process process({kDec, "--quiet", path("s.c63"), "-"}, Process::Stdout::collected, "/dev/full");
  expect_one_line(process.wait(), 6, "c63dec", "C63-WRITE-FAILED");
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(ExitCodes, AFaultOfAnAdditionalOutputLeavesTheStream) {
  const std::string stream = read_file(encoded("s.c63"));
  for (const char* option : {"--recon", "--pred", "--trace", "--json"}) {
    SCOPED_TRACE(option);
    expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("o.c63"), option, "/dev/full", input_}), 6, "c63enc",
                    "C63-WRITE-FAILED");
    EXPECT_TRUE(read_file(path("o.c63")) == stream);
    std::filesystem::remove(path("o.c63"));
  }
  // These files begin with a header, and writing it fails. So the error comes before a frame is encoded, and no stream
  // is left.
  for (const char* option : {"--csv", "--stats-yuview"}) {
    SCOPED_TRACE(option);
    expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("o.c63"), option, "/dev/full", input_}), 6, "c63enc",
                    "C63-WRITE-FAILED");
    EXPECT_FALSE(std::filesystem::exists(path("o.c63")));
  }
  expect_one_line(run({kGen, "--quiet", "-w", "32", "-h", "32", "-f", "2", "-o", path("g.yuv"), "--truth", "/dev/full"}), 6,
                  "c63gen", "C63-WRITE-FAILED");
  EXPECT_FALSE(std::filesystem::exists(path("g.yuv")));
  // If one output cannot be written, the other outputs are still completed.
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("o.c63"), "--recon", "/dev/full", "--pred", path("p.yuv"),
                          input_}),
                  6, "c63enc", "C63-WRITE-FAILED");
  EXPECT_EQ(read_file(path("p.yuv")).size(), 6 * kFrame32);
  expect_one_line(run({kDec, "--quiet", path("s.c63"), path("d.yuv"), "--trace", "/dev/full"}), 6, "c63dec",
                  "C63-WRITE-FAILED");
  EXPECT_EQ(read_file(path("d.yuv")).size(), 6 * kFrame32);
}

TEST_F(ExitCodes, ALogThatCannotBeWrittenIsAnOutputError) {
  const ProcessResult full = encode({"-w", "32", "-h", "32", "-o", path("o.c63"), "--log-file", "/dev/full", input_});
  expect_one_line(full, 6, "c63enc", "C63-LOG-FILE");
  EXPECT_TRUE(read_file(path("o.c63")) == read_file(encoded("s.c63")));
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

TEST_F(ExitCodes, InputAndOutputMayNotBeTheSameFile) {
  std::filesystem::create_symlink(input_, path("link.yuv"));
  std::filesystem::create_hard_link(input_, path("hard.yuv"));
  for (const std::string& output : {input_, path("link.yuv"), path("hard.yuv"), path("./in.yuv")}) {
    SCOPED_TRACE(output);
    expect_one_line(encode({"-w", "32", "-h", "32", "-o", output, input_}), 2, "c63enc", "C63-SAME-FILE");
    expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("o.c63"), "--recon", output, input_}), 2, "c63enc",
                    "C63-SAME-FILE");
  }
  const std::string stream = encoded("s.c63");
  expect_one_line(run({kDec, "--quiet", stream, stream}), 2, "c63dec", "C63-SAME-FILE");
  EXPECT_EQ(read_file(input_), video_);
}

TEST_F(ExitCodes, TwoOutputsMayNotBeTheSameFile) {
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("o"), "--recon", path("./o"), input_}), 2, "c63enc",
                  "C63-SAME-FILE");
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", "-", "--json", "-", input_}), 2, "c63enc", "C63-SAME-FILE");
  EXPECT_EQ(encode({"-w", "32", "-h", "32", "-o", "/dev/null", "--recon", "/dev/null", input_}).exit_code, 0);
}

TEST_F(ExitCodes, StdinIsReadOnlyOnce) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--compare-cpu"}}) {
    expect_one_line(encode(joined({"-w", "32", "-h", "32", "-o", path("o.c63"), "-"}, more), video_), 2, "c63enc", "C63-USAGE");
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
