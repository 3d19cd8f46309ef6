#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "tools_test_support.h"

// Tests what is left after signals. After the first one, the program still codes some frames: those of a file that
// devices already work on, and all that were read from a pipe. The second one drops frames that are not coded. The
// third one, and SIGQUIT, end the program at once. In every case an older output file stays whole, and no unfinished
// file is left.

namespace c63::test {
namespace {

/// Waits until a program has written frames to its unfinished output file in this folder, or has ended.
void wait_for_frames(const Process& process, const std::filesystem::path& folder) {
  const auto has_frames = [](const std::filesystem::directory_entry& entry) {
    std::error_code gone;
    const std::uintmax_t size = entry.file_size(gone);
    return entry.path().string().find(".part-") != std::string::npos && !gone && size > 0;
  };
  while (process.running() && std::none_of(std::filesystem::directory_iterator(folder), {}, has_frames)) ::usleep(1000);
}

class Stopping : public ToolsTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    video_ = generate({'B', 0, 32, 32, 12});
  }

  std::string video_;
};

TEST_P(Stopping, AnEncodeThatWaitsForItsPipeLeavesAWholeFile) {
  Process process({kEnc, "-v", "-w", "32", "-h", "32", "--lanes", "1", "-o", path("out.c63"), "-"});
  // The program gets ten frames and the beginning of another one. Then nothing more comes, but the pipe stays open.
  ASSERT_TRUE(process.write(std::string_view(video_).substr(0, 10 * kFrame32 + 100)));
  ASSERT_TRUE(process.wait_for_error_output("frame 4:"));
  process.kill(GetParam());
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + GetParam()) << result.err;
  expect_success(run({kDec, "--quiet", path("out.c63"), path("out.yuv")}));
  const std::string whole = run({kEnc, "--quiet", "-w", "32", "-h", "32", "-o", "-", "-"}, video_).out;
  EXPECT_TRUE(whole.starts_with(read_file(path("out.c63"))));
  EXPECT_GE(read_file(path("out.yuv")).size(), 5 * kFrame32);
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_P(Stopping, ALivePipeIsCodedAsItComesAndNothingOfItIsLost) {
  // Runs with default settings, so the program itself chooses the numbers of threads and lanes.
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
  // The stream has more frames than a decoder keeps to itself. So some are written while it waits for more bytes.
  const std::string stream = run({kEnc, "--quiet", "-w", "32", "-h", "32", "-o", "-", "-"}, generate({'B', 0, 32, 32, 60})).out;
  Process process({kDec, "--threads", "1", "-", path("out.yuv")});
  ASSERT_TRUE(process.write(std::string_view(stream).substr(0, stream.size() - 10)));
  wait_for_frames(process, folder_);
  process.kill(GetParam());
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + GetParam()) << result.err;
  const std::string decoded = read_file(path("out.yuv"));
  EXPECT_GE(decoded.size(), kFrame32);
  EXPECT_EQ(decoded.size() % kFrame32, 0U);
  EXPECT_TRUE(run({kDec, "--quiet", "-", "-"}, stream).out.starts_with(decoded));
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_P(Stopping, BeforeTheFirstFrameThereIsNoFile) {
  Process process({kEnc, "-w", "32", "-h", "32", "-o", path("out.c63"), "-"});
  ASSERT_TRUE(process.write(std::string_view(video_).substr(0, kFrame32 / 2)));
  ASSERT_TRUE(process.wait_for_error_output("stdin 32x32"));
  process.kill(GetParam());
  EXPECT_EQ(process.wait().exit_code, 128 + GetParam());
  EXPECT_FALSE(std::filesystem::exists(path("out.c63")));
}

TEST_P(Stopping, TheThirdSignalEndsAtOnce) {
  // Nobody reads the output, which is a pipe that is full. So the program cannot end after the first signal.
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
  // If several signals arrive before the program handles the first one, they count as one. So the test repeats the
  // signal.
  for (; process.running(); ::usleep(10000)) process.kill(GetParam());
  EXPECT_EQ(process.wait().exit_code, 128 + GetParam());
  ::close(reader);
  EXPECT_EQ(files_in_folder(), 2);  // FIFO and input; the unfinished reconstruction is gone
}

INSTANTIATE_TEST_SUITE_P(Signals, Stopping, ::testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const ::testing::TestParamInfo<int>& signal) {
                           return signal.param == SIGINT ? "SIGINT" : signal.param == SIGTERM ? "SIGTERM" : "SIGHUP";
                         });

/// Tests with a video whose encoding with preset best takes seconds.
class StoppedEncodes : public ToolsTest {
 protected:
  static constexpr int kFrames = 200;
  static constexpr std::size_t kFrameBytes = 352 * 288 * 3 / 2;

  void SetUp() override {
    input_ = path("in_352x288.yuv");
    ASSERT_EQ(run({kGen, "--quiet", "--pattern", "natural", "-w", "352", "-h", "288", "-f", std::to_string(kFrames), "-o", input_}).exit_code, 0);
  }

  /// Encodes to out.c63 with preset best, and sends SIGINT as soon as frame 2 is coded.
  ProcessResult encode_and_stop(const std::vector<std::string>& more) {
    Process process(joined({kEnc, "-v", "--backend", "cpu", "--preset", "best", "-o", path("out.c63")}, more));
    EXPECT_TRUE(process.wait_for_error_output("frame 2:"));
    process.kill(SIGINT);
    ProcessResult result = process.wait();
    EXPECT_EQ(result.exit_code, 130) << result.err;
    return result;
  }

  /// Decodes a stream, expects no error, and returns the number of its frames.
  [[nodiscard]] std::size_t frames_of_stream(const std::string& name) const {
    const ProcessResult decoded = expect_success(run({kDec, "--quiet", path(name), "-"}));
    return decoded.out.size() / kFrameBytes;
  }

  std::string input_;
};

TEST_F(StoppedEncodes, AnOlderFileStaysAndThePartLiesNextToIt) {
  write_file("out.c63", "older");
  write_file("out.json", "older");
  const ProcessResult result = encode_and_stop({"--json", path("out.json"), input_});
  EXPECT_EQ(read_file(path("out.c63")), "older");
  EXPECT_EQ(read_file(path("out.json")), "older");
  const std::size_t frames = frames_of_stream("out.partial.c63");
  EXPECT_GE(frames, 3U);
  EXPECT_LT(frames, std::size_t{kFrames});
  EXPECT_EQ(nlohmann::json::parse(read_file(path("out.partial.json")))["result"]["frames"], frames);
  EXPECT_EQ(files_in_folder(), 5);
}

TEST_F(StoppedEncodes, APartReplacesAnOlderFileIfItIsToOrIfThatIsEmpty) {
  write_file("out.c63", "older");
  (void)encode_and_stop({"--keep-partial", input_});
  EXPECT_GE(frames_of_stream("out.c63"), 3U);
  write_file("out.c63", "");
  (void)encode_and_stop({input_});
  EXPECT_GE(frames_of_stream("out.c63"), 3U);
  EXPECT_EQ(files_in_folder(), 2);
}

/// The first pass is kept if it is not too large. A quality is not met by it, so nothing is kept.
TEST_F(StoppedEncodes, APassOfATargetLeavesAWholePassOrTheOlderFile) {
  struct Case {
    std::string option;
    std::string value;
    std::string output;
    bool is_kept;
  };
  const std::string file = path("out.c63");
  for (const auto& [option, value, output, is_kept] : {Case{"--size", "3MB", file, true}, {"--size", "3MB", "-", true}, {"--size", "3000", file, false},
                                                       {"--size", "3000", "-", false}, {"--target-psnr", "45", file, false}}) {
    SCOPED_TRACE(value + " " + output);
    write_file("out.c63", "older");
    Process process({kEnc, "--backend", "cpu", "--preset", "best", "-f", "30", option, value, "-o", output, input_});
    ASSERT_TRUE(process.wait_for_error_output("pass 1:"));
    process.kill(SIGINT);
    const ProcessResult result = process.wait();
    EXPECT_EQ(result.exit_code, 130) << result.err;
    if (output == "-" && is_kept) write_file("out.c63", result.out);
    if (is_kept) {
      EXPECT_EQ(frames_of_stream("out.c63"), 30U);
      EXPECT_LE(std::filesystem::file_size(file), 3'000'000U);
    } else {
      EXPECT_EQ(read_file(file), "older");
      EXPECT_TRUE(result.out.empty());
    }
    EXPECT_EQ(files_in_folder(), 2);
  }
}

TEST_F(StoppedEncodes, QuitEndsAtOnceAndLeavesNothing) {
  Process process({kEnc, "-v", "--backend", "cpu", "--preset", "best", "-o", path("out.c63"), input_});
  ASSERT_TRUE(process.wait_for_error_output("frame 2:"));
  process.kill(SIGQUIT);
  EXPECT_EQ(process.wait().exit_code, 128 + SIGQUIT);
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(StoppedEncodes, QuitLeavesNoSpool) {
  Process process({kEnc, "--size", "9000", "--spool", path(""), "-w", "352", "-h", "288", "-o", path("out.c63"), "-"});
  ASSERT_TRUE(process.write(std::string(2 * kFrameBytes, 'x')));
  while (files_in_folder() < 2) ::usleep(1000);
  process.kill(SIGQUIT);
  EXPECT_EQ(process.wait().exit_code, 128 + SIGQUIT);
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(StoppedEncodes, AHangUpThatIsIgnoredStaysIgnored) {
  Process process({"/usr/bin/nohup", kEnc, "-v", "--backend", "cpu", "-w", "352", "-h", "288", "-o", path("out.c63"), "-"});
  ASSERT_TRUE(process.write(read_file(input_).substr(0, 5 * kFrameBytes)));
  ASSERT_TRUE(process.wait_for_error_output("frame 2:"));
  process.kill(SIGHUP);
  ASSERT_TRUE(process.write(read_file(input_).substr(0, kFrameBytes)));
  process.close_input();
  EXPECT_EQ(process.wait().exit_code, 0);
  EXPECT_EQ(frames_of_stream("out.c63"), 6U);
}

TEST_F(ToolsTest, AStoppedDecodeKeepsAnOlderFile) {
  const std::string video = path("in_352x288.yuv");
  ASSERT_EQ(run({kGen, "--quiet", "-w", "352", "-h", "288", "-f", "300", "-o", video}).exit_code, 0);
  ASSERT_EQ(run({kEnc, "--quiet", "--backend", "cpu", "--me", "zero", "-o", path("in.c63"), video}).exit_code, 0);
  ProcessResult result;
  result.exit_code = 0;
  while (result.exit_code == 0) {  // the program ended before the signal came
    write_file("out.yuv", "older");
    Process process({kDec, "--backend", "cpu", "--threads", "1", path("in.c63"), path("out.yuv")});
    wait_for_frames(process, folder_);
    process.kill(SIGINT);
    result = process.wait();
  }
  ASSERT_EQ(result.exit_code, 130) << result.err;
  EXPECT_EQ(read_file(path("out.yuv")), "older");
  const std::size_t part = read_file(path("out.partial.yuv")).size();
  EXPECT_GT(part, 0U);
  EXPECT_EQ(part % (352 * 288 * 3 / 2), 0U);
}

/// Runs c63cmp ab with an encoder that never ends when it is run for the fourth time.
class StoppedComparison : public ToolsTest {
 protected:
  void SetUp() override {
    const std::string input = write_file("in_32x32.yuv", generate({'B', 0, 32, 32, 4}));
    std::filesystem::create_directory(path("tmp"));
    const std::string script = write_file("encoder", "#!/bin/sh\ncd '" + folder_.string() +
                                                         "'\necho run >> runs\n"
                                                         "if [ $(wc -l < runs) -gt 3 ]; then\n"
                                                         "  cut -d ' ' -f 5 /proc/$$/stat > new && mv new group\n"
                                                         "  sleep 1000 | cat\nfi\nexec '" + kEnc + "' \"$@\"\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    command_ = {"/usr/bin/env", "TMPDIR=" + path("tmp"), kCmp, "ab", "--a", "--backend cpu", "--b", "--backend cpu --keyint 2", "--qp",
                "30", "--repeat", "10", "--warmup", "0", "--c63enc", script, "--json", path("r.json"), input};
  }

  /// Returns true if the encoder of the fourth run, or a child of it, is still running.
  [[nodiscard]] bool is_group_alive() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::string stat;
      std::getline(std::ifstream(entry.path() / "stat"), stat);  // nothing, if the process has just ended
      const auto name_end = stat.rfind(") ");
      if (name_end == std::string::npos) continue;
      std::istringstream fields(stat.substr(name_end + 2));
      std::string state, parent, group;
      fields >> state >> parent >> group;
      if (group + "\n" == read_file(path("group")) && state != "Z" && state != "X") return true;
    }
    return false;
  }
  [[nodiscard]] ProcessResult run_and_send(int signal) {
    Process process(command_);
    while (!std::filesystem::exists(path("group")) && process.running()) ::usleep(1000);
    EXPECT_TRUE(is_group_alive());
    process.kill(signal);
    ProcessResult result = process.wait();
    while (is_group_alive()) ::usleep(1000);  // a killed process needs a moment to end
    EXPECT_TRUE(std::filesystem::is_empty(path("tmp")));
    return result;
  }

  std::vector<std::string> command_;
};

TEST_F(StoppedComparison, ReportsTheFinishedRounds) {
  const ProcessResult result = run_and_send(SIGINT);
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const auto json = nlohmann::json::parse(read_file(path("r.json")));
  EXPECT_TRUE(json["stopped"]);
  ASSERT_EQ(json["points"].size(), 2U);
  for (const auto& point : json["points"]) EXPECT_EQ(point["process_s"].size(), 1U);
}

TEST_F(StoppedComparison, EndsAtOnceWithItsEncoders) {
  EXPECT_EQ(run_and_send(SIGQUIT).exit_code, 131);
  EXPECT_FALSE(std::filesystem::exists(path("r.json")));
}

/// Tests with a stream whose analysis takes seconds. It has two frames, and then four million repeats.
class StoppedLooks : public ToolsTest {
 protected:
  void SetUp() override {
    std::string stream = run({kEnc, "--quiet", "--backend", "cpu", "-w", "32", "-h", "32", "-o", "-", "-"},
                             generate({'B', 0, 32, 32, 2}))
                             .out;
    const std::string repeat = "\xFF\xD8\xFF\xD9";
    for (int i = 0; i < 4'000'000; ++i) stream += repeat;
    stream_ = write_file("in.c63", stream);
  }

  /// Runs a program and stops it as soon as its unfinished output file exists.
  [[nodiscard]] ProcessResult look_and_stop(const std::vector<std::string>& command) const {
    Process process(command);
    const auto is_unfinished = [](const auto& entry) {
      return entry.path().string().find(".part-") != std::string::npos;
    };
    while (process.running() && std::none_of(std::filesystem::directory_iterator(folder_), {}, is_unfinished))
      ::usleep(1000);
    process.kill(SIGINT);
    return process.wait();
  }

  std::string stream_;
};

TEST_F(StoppedLooks, KeepAnOlderFile) {
  for (const auto& [name, part, command] :
       {std::tuple("o.csv", "o.partial.csv", std::vector{kMv, stream_, std::string("-o"), path("o.csv")}),
        std::tuple("o.json", "o.partial.json", std::vector{kInfo, stream_, std::string("--json"), path("o.json")})}) {
    write_file(name, "older");
    const ProcessResult result = look_and_stop(command);
    EXPECT_EQ(result.exit_code, 130) << result.err;
    EXPECT_EQ(read_file(path(name)), "older");
    if (std::filesystem::exists(path(part))) {
      EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    }
    EXPECT_LE(files_in_folder(), 5);  // the stream, two older files, two unfinished files
  }
}

}  // namespace
}  // namespace c63::test
