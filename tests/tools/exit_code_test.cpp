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
    EXPECT_NE(help.out.find("--config"), std::string::npos);
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

TEST_F(ExitCodes, UnknownOptionIsWrongUsage) {
  expect_one_line(encode({"--no-such-option"}), 2, "c63enc", "C63-USAGE");
}

TEST_F(ExitCodes, WrongValuesAreWrongUsage) {
  const std::vector<std::vector<std::string>> cases = {
      {"-q", "abc"},       {"--me", "none"},     {"--fps", "0"},    {"--fps", "x"},    {"--backend", "opencl"},
      {"--threads", "-1"}, {"--input-res", "7"}, {"--repeat", "0"}, {"--simd", "mmx"}, {"-w", "99999999999"},
      {"-f", "-1"},        {"--seek", "99999999999999999999"}, {"--max-pixels", "-1"}, {"--max-memory", "-1"}};
  for (const auto& wrong : cases) {
    std::vector<std::string> command = {"-o", path("out.c63"), input_};
    command.insert(command.end(), wrong.begin(), wrong.end());
    SCOPED_TRACE(wrong[0] + " " + wrong[1]);
    expect_one_line(encode(command), 2, "c63enc", "C63-USAGE");
  }
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(ExitCodes, SettingsThatTheFormatCannotHoldAreWrongUsage) {
  const auto with = [&](const std::string& option, const std::string& value) {
    return encode({"-w", "32", "-h", "32", "-o", path("out.c63"), input_, option, value});
  };
  expect_one_line(with("-q", "4"), 2, "c63enc", "C63-QP-RANGE");
  expect_one_line(with("-q", "51"), 2, "c63enc", "C63-QP-RANGE");
  expect_one_line(with("--keyint", "0"), 2, "c63enc", "C63-KEYINT-RANGE");
  expect_one_line(with("--merange", "128"), 2, "c63enc", "C63-MERANGE-RANGE");
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(ExitCodes, NoFilesAreWrongUsage) {
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63")}), 2, "c63enc", "C63-USAGE");
  expect_one_line(encode({"-w", "32", "-h", "32", input_}), 2, "c63enc", "C63-USAGE");
  expect_one_line(run({kDec, "--quiet"}), 2, "c63dec", "C63-USAGE");
  expect_one_line(run({kPred, "--quiet", encoded("s.c63")}), 2, "c63pred", "C63-USAGE");
}

TEST_F(ExitCodes, TuningWhatDecidesNothingIsWrongUsage) {
  const std::vector<std::string> command = {"-w", "32", "-h", "32", "-o", path("out.c63"), "--tune", "ssim", input_};
  expect_one_line(encode(command), 2, "c63enc", "C63-TUNE-PRESET");
}

TEST_F(ExitCodes, RawInputWithoutASizeIsExplained) {
  const ProcessResult result = encode({"-o", path("out.c63"), input_});
  expect_one_line(result, 2, "c63enc", "C63-SIZE-UNKNOWN");
  EXPECT_NE(result.err.find("width and height"), std::string::npos) << result.err;
}

TEST_F(ExitCodes, OneSideAloneAndZeroSizesAreWrongUsage) {
  expect_one_line(encode({"-w", "32", "-o", path("out.c63"), input_}), 2, "c63enc", "C63-USAGE");
  expect_one_line(encode({"-w", "0", "-h", "32", "-o", path("out.c63"), input_}), 2, "c63enc", "C63-SIZE-ZERO");
  expect_one_line(encode({"-w", "0", "-h", "0", "-o", path("out.c63"), input_}), 2, "c63enc", "C63-SIZE-ZERO");
  expect_one_line(encode({"-w", "32", "-h", "-32", "-o", path("out.c63"), input_}), 2, "c63enc", "C63-SIZE-ZERO");
}

TEST_F(ExitCodes, ARawSizeThatCannotBeCodedIsRefusedWithTheReason) {
  const ProcessResult result = encode({"-w", "15", "-h", "15", "-o", path("out.c63"), input_});
  expect_one_line(result, 2, "c63enc", "C63-SIZE-AREA");
  EXPECT_NE(result.err.find("multiple of 4"), std::string::npos) << result.err;
}

TEST_F(ExitCodes, LimitsHaveTheirOwnCode) {
  const auto with = [&](const std::vector<std::string>& more) {
    return encode(joined({"-o", path("out.c63"), input_}, more));
  };
  expect_one_line(with({"-w", "65536", "-h", "2"}), 5, "c63enc", "C63-SIZE-RANGE");
  expect_one_line(with({"-w", "32", "-h", "32", "--max-pixels", "1023"}), 5, "c63enc", "C63-MAX-PIXELS");
  expect_one_line(with({"-w", "32", "-h", "32", "--max-memory", "1kb"}), 5, "c63enc", "C63-MAX-MEMORY");
  expect_one_line(run({kDec, "--quiet", encoded("s.c63"), path("o.yuv"), "--max-pixels", "1000"}), 5, "c63dec",
                  "C63-MAX-PIXELS");
  EXPECT_FALSE(std::filesystem::exists(path("out.c63")));
  EXPECT_FALSE(std::filesystem::exists(path("o.yuv")));
}

TEST_F(ExitCodes, MissingInputIsBadInput) {
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63"), path("no.yuv")}), 4, "c63enc",
                  "C63-INPUT-OPEN");
  expect_one_line(run({kDec, "--quiet", path("no.c63"), path("o.yuv")}), 4, "c63dec", "C63-INPUT-OPEN");
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(ExitCodes, AFolderAsInputIsBadInput) {
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63"), folder_.string()}), 4, "c63enc",
                  "C63-INPUT-OPEN");
}

TEST_F(ExitCodes, EmptyInputIsBadInput) {
  const std::string empty = write_file("empty.yuv", "");
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63"), empty}), 4, "c63enc", "C63-NO-FRAMES");
  expect_one_line(encode({"-w", "32", "-h", "32", "-o", path("out.c63"), "-"}), 4, "c63enc", "C63-NO-FRAMES");
  EXPECT_EQ(run({kDec, "--quiet", empty, path("o.yuv")}).exit_code, 4);
  EXPECT_EQ(lines_in(run({kDec, "--quiet", empty, path("o.yuv")}).err), 1);
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(ExitCodes, SeekingPastTheEndIsBadInput) {
  expect_one_line(encode({"-w", "32", "-h", "32", "--seek", "6", "-o", path("out.c63"), input_}), 4, "c63enc",
                  "C63-NO-FRAMES");
  EXPECT_EQ(run({kDec, "--quiet", "--seek", "6", encoded("s.c63"), path("o.yuv")}).exit_code, 4);
}

TEST_F(ExitCodes, APartialLastFrameWarnsAndIsAnErrorWithStrict) {
  const std::string partial = write_file("partial.yuv", video_.substr(0, 5 * kFrame32 + 7));
  const ProcessResult warned = run({kEnc, "-w", "32", "-h", "32", "-o", path("out.c63"), partial});
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_NE(warned.err.find("warning: " + partial + ": 5.0 frames of 32x32: wrong size?"), std::string::npos)
      << warned.err;
  EXPECT_NE(warned.err.find("encoded 5 frames"), std::string::npos) << warned.err;
  expect_one_line(encode({"-w", "32", "-h", "32", "--strict", "-o", path("strict.c63"), partial}), 4, "c63enc",
                  "C63-RAW-PARTIAL");
}

TEST_F(ExitCodes, WholeFramesBeforeAFaultInTheInputAreKept) {
  const ProcessResult result =
      encode({"-w", "32", "-h", "32", "--strict", "-o", path("out.c63"), "-"}, video_.substr(0, 5 * kFrame32 + 7));
  expect_one_line(result, 4, "c63enc", "C63-RAW-PARTIAL");
  EXPECT_NE(result.err.find("; 5 frames written"), std::string::npos) << result.err;
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
    EXPECT_NE(result.err.find("frame " + std::to_string(frames) + ": "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(" at byte "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("; " + std::to_string(frames) + (frames == 1 ? " frame written" : " frames written")),
              std::string::npos)
        << result.err;
  }
}

TEST_F(ExitCodes, ADamagedStreamStillGivesAFile) {
  const std::string stream = read_file(encoded("s.c63"));
  const std::string cut = write_file("cut.c63", std::string_view(stream).substr(0, stream.size() - 40));
  const ProcessResult result = run({kDec, "--quiet", cut, path("o.yuv")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(result.err.starts_with("c63dec: " + cut + ": frame 5: ")) << result.err;
  EXPECT_EQ(read_file(path("o.yuv")).size(), 5 * kFrame32);
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
       {std::vector<std::string>{"--repeat", "2"}, {"--warmup", "1"}, {"--compare-cpu"}}) {
    expect_one_line(encode(joined({"-w", "32", "-h", "32", "-o", path("o.c63"), "-"}, more), video_), 2, "c63enc", "C63-USAGE");
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
