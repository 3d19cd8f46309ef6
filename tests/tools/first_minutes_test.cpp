#include "tools_test_support.h"

// Tests what a new user meets first: mistakes on the command line, short inputs, and messages that should not appear.

namespace c63::test {
namespace {

class FirstMinutes : public ToolsTest {
 protected:
  void SetUp() override {
    video_ = generate({'B', 0, 32, 32, 3});
    input_ = write_file("clip_32x32.yuv", video_);
  }

  std::string video_;
  std::string input_;
};

TEST_F(FirstMinutes, AnErrorBeforeTheWorkComesAlone) {
  const std::string part = write_file("part_32x32.yuv", std::string_view(video_).substr(0, 2 * kFrame32 + 7));
  expect_one_line(run({kEnc, part, path("none/o.c63")}), 6, "c63enc", "C63-WRITE-OPEN");
  const ProcessResult little = run({kEnc, write_file("little_32x32.yuv", std::string(99, 'x')), path("o.c63")});
  expect_one_line(little, 4, "c63enc", "C63-NO-FRAMES");
  expect_one_line(run({kEnc, write_file("empty_32x32.yuv", ""), path("o.c63")}), 4, "c63enc", "C63-NO-FRAMES");
}

TEST_F(FirstMinutes, QuietIsQuiet) {
  ASSERT_EQ(run({kEnc, input_, path("s.c63"), "--quiet"}).exit_code, 0);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{kEnc, input_, path("o.c63")}, {kDec, path("s.c63"), path("o.yuv")}, {kMv, path("s.c63")},
        {kMv, path("s.c63"), "-o", path("o.csv")}, {kGen, "-w", "16", "-h", "16", path("g.yuv")}}) {
    std::vector<std::string> quiet = command;
    quiet.emplace_back("--quiet");
    const ProcessResult result = run(quiet);
    EXPECT_EQ(result.exit_code, 0) << command[0];
    EXPECT_EQ(result.out + result.err, "") << command[0];
  }
  const ProcessResult compared = run({kCmp, "--quiet", input_, path("s.c63")});
  EXPECT_EQ(compared.err, "");
  EXPECT_FALSE(compared.out.empty()) << "what c63cmp prints is its result";
}

TEST_F(FirstMinutes, TrueMotionOfAnotherLengthIsRefused) {
  const auto make = [&](const std::string& frames) {
    ASSERT_EQ(run({kGen, "--quiet", "-w", "64", "-h", "64", "-f", frames, "--truth", path(frames + ".csv"), path("g_64x64.yuv")}).exit_code, 0);
  };
  for (const char* frames : {"3", "6", "5"}) make(frames);
  ASSERT_EQ(run({kEnc, "--quiet", path("g_64x64.yuv"), path("s.c63")}).exit_code, 0);
  EXPECT_EQ(run({kMv, path("s.c63"), "--truth", path("5.csv")}).exit_code, 0);
  EXPECT_EQ(run({kMv, path("s.c63"), "-f", "3", "--truth", path("5.csv")}).exit_code, 0);
  for (const char* frames : {"3", "6"}) {
    const ProcessResult result = run({kMv, path("s.c63"), "--truth", path(frames + std::string(".csv")), "-o", path("o.csv")});
    expect_one_line(result, 4, "c63mv", "C63-TRUTH");
    EXPECT_FALSE(std::filesystem::exists(path("o.csv")));
  }
}

TEST_F(FirstMinutes, OneNameForTheKernelOfSignalsAndVideo) {
  const std::string signal = write_file("s.txt", "1\n2\n1\n9\n");
  const auto convolved = [&](const std::string& option, const std::string& kernel) {
    return run({kFilter, "convolve", signal, "-", option, kernel, "--quiet"}).out;
  };
  EXPECT_EQ(convolved("--kernel", "1,2,1"), "4\n6\n13\n19\n");
  EXPECT_EQ(convolved("--taps", "1,2,1"), "4\n6\n13\n19\n");
  EXPECT_EQ(convolved("--kernel", "mean:1"), "1\n2\n1\n9\n");
  const std::string mean = run({kFilter, "mean", input_, "-", "--input-res", "32x32", "--width", "3", "--quiet"}).out;
  EXPECT_EQ(run({kFilter, "convolve", input_, "-", "--input-res", "32x32", "--kernel", "mean:3", "--quiet"}).out, mean);
  EXPECT_FALSE(mean.empty());
}

TEST_F(FirstMinutes, ThePlaceOfTheLargestValue) {
  EXPECT_EQ(run({kFilter, "reduce", write_file("s.txt", "1\n9\n3\n9\n"), "--op", "argmax", "--quiet"}).out, "1\n");
  std::string video(3 * kFrame32, 'a');
  video[kFrame32 + 40] = 'z';
  EXPECT_EQ(run({kFilter, "reduce", write_file("v_32x32.yuv", video), "--op", "argmax", "--quiet"}).out,
            std::to_string(32 * 32 + 40) + "\n");
}

}  // namespace
}  // namespace c63::test
