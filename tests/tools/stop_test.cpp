#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <csignal>

#include "tools_test_support.h"

// SIGINT and SIGTERM: the frame in hand is finished, the file is valid, the summary is printed.

namespace c63::test {
namespace {

class Stopping : public ToolsTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    ToolsTest::SetUp();
    video_ = generate({'B', 0, 32, 32, 12});
  }

  std::string video_;
};

TEST_P(Stopping, AnEncodeThatWaitsForItsPipeLeavesAWholeFile) {
  Process process({kEnc, "-v", "-w", "32", "-h", "32", "--lanes", "1", "-o", path("out.c63"), "-"});
  // Ten frames and a part of one, then silence.
  ASSERT_TRUE(process.write(std::string_view(video_).substr(0, 10 * kFrame32 + 100)));
  ASSERT_TRUE(process.wait_for_error_output("frame 4:"));
  process.kill(GetParam());
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + GetParam()) << result.err;
  EXPECT_NE(result.err.find("\nencoded "), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("wrong size"), std::string::npos) << result.err;
  const ProcessResult decoded = run({kDec, "--quiet", path("out.c63"), path("out.yuv")});
  EXPECT_EQ(decoded.exit_code, 0) << decoded.err;
  const std::string whole = run({kEnc, "--quiet", "-w", "32", "-h", "32", "-o", "-", "-"}, video_).out;
  EXPECT_TRUE(whole.starts_with(read_file(path("out.c63"))));
  EXPECT_GE(read_file(path("out.yuv")).size(), 5 * kFrame32);
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_P(Stopping, ALivePipeIsCodedAsItComesAndNothingOfItIsLost) {
  // Default settings: as many threads and lanes as the machine likes.
  Process process({kEnc, "-v", "-w", "32", "-h", "32", "--backend", "cpu", "-o", path("out.c63"), "-"});
  for (std::size_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(process.write(std::string_view(video_).substr(i * kFrame32, kFrame32)));
    if (i == 0) continue;
    ASSERT_TRUE(process.wait_for_error_output("frame " + std::to_string(i - 1) + ":"));
  }
  ASSERT_TRUE(process.wait_for_error_output("frame 9:"));
  process.kill(GetParam());
  EXPECT_EQ(process.wait().exit_code, 128 + GetParam());
  const std::string whole = run({kEnc, "--quiet", "-w", "32", "-h", "32", "-f", "10", "-o", "-", "-"}, video_).out;
  EXPECT_EQ(read_file(path("out.c63")), whole);
}

TEST_P(Stopping, ADecodeThatWaitsForItsPipeLeavesWholeFrames) {
  const std::string stream = run({kEnc, "--quiet", "-w", "32", "-h", "32", "-o", "-", "-"}, video_).out;
  // A decoder may hand out frames late; what it has written when it is stopped must be whole.
  Process process({kDec, "--threads", "1", "-", path("out.yuv")});
  ASSERT_TRUE(process.write(std::string_view(stream).substr(0, stream.size() - 10)));
  while (files_in_folder() == 0) ::usleep(1000);
  process.kill(GetParam());
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + GetParam()) << result.err;
  if (std::filesystem::exists(path("out.yuv"))) {
    const std::string decoded = read_file(path("out.yuv"));
    EXPECT_EQ(decoded.size() % kFrame32, 0U);
    EXPECT_TRUE(run({kDec, "--quiet", "-", "-"}, stream).out.starts_with(decoded));
  }
  EXPECT_LE(files_in_folder(), 1);
}

TEST_P(Stopping, BeforeTheFirstFrameThereIsNoFile) {
  Process process({kEnc, "-w", "32", "-h", "32", "-o", path("out.c63"), "-"});
  ASSERT_TRUE(process.write(std::string_view(video_).substr(0, kFrame32 / 2)));
  ASSERT_TRUE(process.wait_for_error_output("stdin 32x32"));
  process.kill(GetParam());
  EXPECT_EQ(process.wait().exit_code, 128 + GetParam());
  EXPECT_FALSE(std::filesystem::exists(path("out.c63")));
}

TEST_P(Stopping, TheSecondSignalStopsAtOnce) {
  // An output that nobody reads holds the first stop up for ever.
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const std::string input = write_file("in.yuv", generate({'A', 0, 352, 288, 20}));
  Process process({kEnc, "-v", "-w", "352", "-h", "288", "-q", "50", "--me", "zero", "--recon",
                   path("recon.yuv"), "-o", path("fifo"), input});
  const int reader = ::open(path("fifo").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  for (int filled = 0; filled < 60000; ::usleep(1000)) ASSERT_EQ(::ioctl(reader, FIONREAD, &filled), 0);
  process.kill(GetParam());
  ::usleep(50000);
  EXPECT_TRUE(process.running());
  // A signal that comes before the first was taken would count as the same one.
  for (; process.running(); ::usleep(10000)) process.kill(GetParam());
  EXPECT_EQ(process.wait().exit_code, 128 + GetParam());
  ::close(reader);
  EXPECT_EQ(files_in_folder(), 2);  // fifo and input: nothing of the reconstruction
}

INSTANTIATE_TEST_SUITE_P(Signals, Stopping, ::testing::Values(SIGINT, SIGTERM),
                         [](const ::testing::TestParamInfo<int>& signal) {
                           return signal.param == SIGINT ? "SIGINT" : "SIGTERM";
                         });

}  // namespace
}  // namespace c63::test
